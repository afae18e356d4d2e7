// SPDX-License-Identifier: Apache-2.0
#include "weir/identity/identifier.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace weir::identity {
namespace {

constexpr std::size_t kMaxValue = 256;  // bytes of a value that identifies somebody; longer ones are never cut

// In whole seconds, rounded up.
void write_wait(std::chrono::nanoseconds wait, std::string& text) {
  text = "Retry-After: " + std::to_string(std::chrono::ceil<std::chrono::seconds>(wait).count()) + "\r\n";
}

Identified identified_of(int status) {
  switch (status) {
    case 401:
      return Identified::kUnauthorized;
    case 429:
      return Identified::kHeldOff;
    case 503:
      return Identified::kUnavailable;
    default:
      return Identified::kBadRequest;
  }
}

}  // namespace

Identifier::Identifier(const config::Config& config, OpenKeys open)
    : names_(config),
      refusals_(config),
      keys_(config.keys),
      tokens_(names_, std::move(open)),
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
    callers_.push_back({FieldName(key->header), FieldCaller::Kind::kKey, kKey, true, 0});
  } else if (const auto* header = std::get_if<config::HeaderCaller>(&caller)) {
    const auto attribute = names_.find(header->attribute);
    if (!attribute) return;
    const bool from_anyone = header->from == config::TrustedFrom::kAnyone;
    callers_.push_back({FieldName(header->header), FieldCaller::Kind::kValue, *attribute, from_anyone, 0});
  } else if (const auto* token = std::get_if<config::JwtCaller>(&caller)) {
    const auto [field, is_new] = tokens_.add(*token);
    if (is_new) callers_.push_back({FieldName(token->header), FieldCaller::Kind::kToken, kUser, true, field});
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
    if (attribute.source == config::PerAttribute::Source::kClaim) continue;  // tokens_ has them
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

Memory Identifier::make_memory(Counters& counters) const {
  Memory memory;
  memory.counters = &counters;
  tokens_.prepare(memory);
  return memory;
}

Identified Identifier::identify(const Arrival& arrival, Caller& caller, Refusal& why) const {
  caller.attributes.reset(names_.size());
  caller.bypass = false;
  const Context context{arrival, caller};
  const Fault fault = collect(context);
  if (fault == Fault::kNone) return Identified::kYes;
  if (fault == Fault::kKeyNotYet) return Identified::kNotYet;
  why = refusals_.of(fault);
  if (fault == Fault::kTooManyFailures) {
    arrival.memory.counters->held_off.add();
    write_wait(context.suspect().gate->wait(context.suspect().address), caller.wait_text);
    why.fields = caller.wait_text;
  } else if (fault != Fault::kNobody && why.status == 401) {
    arrival.memory.counters->refused.add();
  }
  return identified_of(why.status);
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

Fault Identifier::collect(const Context& context) const {
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

Fault Identifier::apply_callers(const Context& context) const {
  bool has_key = false;
  for (const FieldCaller& caller : callers_) {
    if (!caller.from_anyone && !context.peer.trusted) continue;
    const Fault fault =
        caller.kind == FieldCaller::Kind::kToken
            ? tokens_.identify(caller.token_field, {context.request, context.now, context.memory, context.suspect()},
                               context.caller.attributes)
            : apply_value(caller, context, has_key);
    if (fault != Fault::kNone) return fault;
  }
  return Fault::kNone;
}

Fault Identifier::apply_value(const FieldCaller& caller, const Context& context, bool& has_key) const {
  const Single found = find_field(context.request, caller.field);
  if (found.twice) return Fault::kTwice;
  if (found.value.empty()) return Fault::kNone;
  if (found.value.size() > kMaxValue) return Fault::kTooLong;
  if (caller.kind == FieldCaller::Kind::kValue) {
    context.caller.attributes.set_if_absent(caller.attribute, found.value);
    return Fault::kNone;
  }
  return std::exchange(has_key, true) ? Fault::kTwice : apply_key(found.value, context);
}

// A right key passes whatever its address did before. Where finding out would cost something, the gate comes first.
Fault Identifier::apply_key(std::string_view key, const Context& context) const {
  const ApiKeys::Owner* owner = keys_.find(key);
  if (!owner) return apply_kept_key(key, context);
  Attributes& attributes = context.caller.attributes;
  attributes.set_if_absent(kPartner, owner->partner);
  attributes.set_if_absent(kPlan, owner->plan);
  attributes.set_if_absent(kKey, owner->fingerprint);
  return Fault::kNone;
}

Fault Identifier::apply_kept_key(std::string_view key, const Context& context) const {
  using Known = KeyDirectory::Known;
  const KeyDirectory::Answer answer = context.keys == nullptr ? KeyDirectory::Answer() : context.keys->find(key);
  if (answer.known == Known::kAway) return required_ ? Fault::kOwnersAway : Fault::kNone;
  if (answer.known == Known::kOwner) {
    Attributes& attributes = context.caller.attributes;
    attributes.set_if_absent(kPartner, answer.partner);
    attributes.set_if_absent(kPlan, answer.plan);
    attributes.set_if_absent(kKey, answer.fingerprint);
    return Fault::kNone;
  }
  if (answer.was_owner) return Fault::kKeyNotYet;
  const Suspect suspect = context.suspect();
  if (suspect.is_held_off()) return Fault::kTooManyFailures;
  return answer.known == Known::kNotYet ? Fault::kKeyNotYet : suspect.failed(Fault::kUnknownKey);
}

Fault Identifier::apply_sources(const Context& context) const {
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
    case kClaim:
      break;
  }
  return {};
}

// A field that decides is never believed when it is there twice (the same rule as for identities).
Fault Identifier::apply_bypass(const Context& context, const std::optional<IpAddress>& client) const {
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
