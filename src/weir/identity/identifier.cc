// SPDX-License-Identifier: Apache-2.0
#include "weir/identity/identifier.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace weir::identity {
namespace {

constexpr std::size_t kMaxValue = 256;  // bytes of a value that identifies somebody; longer ones are never cut

// What an earlier caller of the configuration said stays.
void set_if_absent(Attributes& attributes, AttributeId id, std::string_view value) {
  if (!attributes.has(id)) attributes.set(id, value);
}

}  // namespace

Identifier::Identifier(const config::Config& config)
    : names_(config),
      keys_(config.keys),
      trusted_(config.trusted_proxies),
      address_field_(config.client_address),
      ipv6_prefix_(config.ipv6_prefix),
      required_(config.identify_required) {
  for (const config::Caller& caller : config.callers) add_caller(caller);
  for (const config::Bypass& bypass : config.bypass) add_bypass(bypass);
  add_sources();
  add_identity_fields(config);
}

void Identifier::add_caller(const config::Caller& caller) {
  if (const auto* key = std::get_if<config::ApiKeyCaller>(&caller)) {
    callers_.push_back({FieldName(key->header), kKey, true, true});
  } else if (const auto* header = std::get_if<config::HeaderCaller>(&caller)) {
    const auto attribute = names_.find(header->attribute);
    if (!attribute) return;
    callers_.push_back({FieldName(header->header), *attribute, false, header->from == config::TrustedFrom::kAnyone});
  }
}

void Identifier::add_bypass(const config::Bypass& bypass) {
  if (const auto* header = std::get_if<config::HeaderBypass>(&bypass)) {
    const bool from_anyone = header->from == config::TrustedFrom::kAnyone;
    field_bypasses_.push_back({FieldName(header->header), header->value, from_anyone});
  } else if (const auto* address = std::get_if<config::AddressBypass>(&bypass)) {
    bypass_networks_.insert(bypass_networks_.end(), address->networks.begin(), address->networks.end());
  }
}

void Identifier::add_sources() {
  for (std::size_t id = 0; id < names_.size(); ++id) {
    const config::PerAttribute& attribute = names_.all()[id];
    if (attribute.source == config::PerAttribute::Source::kAttribute) continue;
    sources_.push_back({attribute.source, FieldName(attribute.name), static_cast<AttributeId>(id)});
  }
}

void Identifier::add_identity_fields(const config::Config& config) {
  for (const FieldCaller& caller : callers_) {
    identity_fields_.push_back(caller.field);
    if (!caller.from_anyone) claims_.push_back(caller.field);
  }
  for (const FieldBypass& bypass : field_bypasses_) {
    identity_fields_.push_back(bypass.field);
    if (!bypass.from_anyone) claims_.push_back(bypass.field);
  }
  if (address_field_.form == AddressField::Form::kSingle) {
    identity_fields_.push_back(address_field_.field);
    claims_.push_back(address_field_.field);
  }
  for (const Source& source : sources_) {
    if (source.kind == config::PerAttribute::Source::kHeader) identity_fields_.push_back(source.name);
    if (source.kind == config::PerAttribute::Source::kCookie) identity_fields_.emplace_back("Cookie");
  }
  for (const config::Limit& limit : config.limits) {
    if (const auto* cost = std::get_if<config::HeaderCost>(&limit.cost)) identity_fields_.emplace_back(cost->header);
  }
}

Peer Identifier::peer(const std::optional<IpAddress>& address) const {
  if (!address) return {std::nullopt, false, "unix", "unix"};
  Peer peer{address, is_in(trusted_, *address), address->to_string(), {}};
  write_group(*address, ipv6_prefix_, peer.group);
  return peer;
}

Identified Identifier::identify(const http::RequestHead& request, const Peer& peer, Caller& caller,
                                http::Rejection& why) const {
  caller.attributes.reset(names_.size());
  caller.bypass = false;
  switch (collect({request, peer, caller})) {
    case Fault::kNone:
      return Identified::kYes;
    case Fault::kUnknownKey:
      why = {401, "unknown-key", "The API key is not known."};
      return Identified::kUnauthorized;
    case Fault::kNobody:
      why = {401, "unidentified", "The request does not say who sends it."};
      return Identified::kUnauthorized;
    case Fault::kTwice:
      why = {400, "identity-twice", "A value that identifies the caller is given more than once."};
      return Identified::kBadRequest;
    case Fault::kTooLong:
      why = {400, "identity-too-long", "A value that identifies the caller is longer than 256 bytes."};
      return Identified::kBadRequest;
  }
  return Identified::kBadRequest;
}

bool Identifier::is_identity_field(std::string_view name) const {
  const http::FieldId id = http::field_id(name);
  return std::ranges::any_of(identity_fields_, [&](const FieldName& field) {
    return field.id == id && (id != http::FieldId::kOther || http::same_name(field.text, name));
  });
}

bool Identifier::is_claim(const http::RequestHead& request, const http::Field& field) const {
  return std::ranges::any_of(claims_, [&](const FieldName& claim) { return claim.matches(request, field); });
}

Identifier::Fault Identifier::collect(const Context& context) const {
  std::optional<IpAddress> client;
  context.caller.attributes.set(kAddress, context.peer.group);
  if (context.peer.address) client = locate(context);
  Fault fault = apply_callers(context);
  if (fault == Fault::kNone) fault = apply_sources(context);
  if (fault == Fault::kNone) fault = apply_bypass(context, client);
  if (fault != Fault::kNone) return fault;
  const Attributes& attributes = context.caller.attributes;
  return required_ && !attributes.has(kPartner) && !attributes.has(kUser) ? Fault::kNobody : Fault::kNone;
}

IpAddress Identifier::locate(const Context& context) const {
  const IpAddress& peer = *context.peer.address;
  if (!context.peer.trusted) return peer;
  const IpAddress client = client_address(context.request, peer, trusted_, address_field_);
  if (client == peer) return peer;
  write_group(client, ipv6_prefix_, context.caller.address_text);
  context.caller.attributes.set(kAddress, context.caller.address_text);
  return client;
}

Identifier::Fault Identifier::apply_callers(const Context& context) const {
  bool has_key = false;
  for (const FieldCaller& caller : callers_) {
    if (!caller.from_anyone && !context.peer.trusted) continue;
    const Single found = find_field(context.request, caller.field);
    if (found.twice) return Fault::kTwice;
    if (found.value.empty()) continue;
    if (found.value.size() > kMaxValue) return Fault::kTooLong;
    if (!caller.is_key) {
      set_if_absent(context.caller.attributes, caller.attribute, found.value);
      continue;
    }
    if (std::exchange(has_key, true)) return Fault::kTwice;
    const Fault fault = apply_key(found.value, context.caller.attributes);
    if (fault != Fault::kNone) return fault;
  }
  return Fault::kNone;
}

Identifier::Fault Identifier::apply_key(std::string_view key, Attributes& attributes) const {
  const ApiKeys::Owner* owner = keys_.find(key);
  if (!owner) return Fault::kUnknownKey;
  set_if_absent(attributes, kPartner, owner->partner);
  set_if_absent(attributes, kPlan, owner->plan);
  set_if_absent(attributes, kKey, owner->fingerprint);
  return Fault::kNone;
}

Identifier::Fault Identifier::apply_sources(const Context& context) const {
  if (sources_.empty()) return Fault::kNone;
  // No decoded value is longer than its part of the query, so the views into this text stay valid.
  context.caller.query_text.clear();
  context.caller.query_text.reserve(context.request.query.size());
  for (const Source& source : sources_) {
    const Single found = find_source(source, context);
    if (found.twice) return Fault::kTwice;
    if (found.value.size() > kMaxValue) return Fault::kTooLong;
    context.caller.attributes.set(source.attribute, found.value);
  }
  return Fault::kNone;
}

Single Identifier::find_source(const Source& source, const Context& context) const {
  using enum config::PerAttribute::Source;
  switch (source.kind) {
    case kHeader:
      return find_field(context.request, source.name);
    case kQuery:
      return find_query(context.request.query, source.name.text, context.caller.query_text);
    case kCookie:
      return find_cookie(context.request, source.name.text);
    case kAttribute:
      break;
  }
  return {};
}

// A field that decides is never believed when it is there twice (the same rule as for identities).
Identifier::Fault Identifier::apply_bypass(const Context& context, const std::optional<IpAddress>& client) const {
  for (const FieldBypass& bypass : field_bypasses_) {
    if (!bypass.from_anyone && !context.peer.trusted) continue;
    const Single found = find_field(context.request, bypass.field);
    if (found.twice) return Fault::kTwice;
    context.caller.bypass |= found.present && found.value == bypass.value;
  }
  context.caller.bypass |= client && is_in(bypass_networks_, *client);
  return Fault::kNone;
}

}  // namespace weir::identity
