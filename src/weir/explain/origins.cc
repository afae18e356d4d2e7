// SPDX-License-Identifier: Apache-2.0
#include "weir/explain/origins.h"

#include <fmt/format.h>

#include <algorithm>

#include "weir/gateway/partner_view.h"
#include "weir/partners/digest.h"
#include "weir/partners/time_text.h"
#include "weir/policy/compiler.h"

namespace weir::explain {
namespace {

using config::PerAttribute;
using policy::per_text;

std::string header_of(const config::Caller& caller) {
  return std::visit([](const auto& one) { return one.header; }, caller);
}

std::string word_of(const config::Caller& caller) {
  if (std::holds_alternative<config::ApiKeyCaller>(caller)) return "key";
  return std::holds_alternative<config::HeaderCaller>(caller) ? "header" : "token";
}

// The claim that becomes an attribute; empty: none does.
std::string claim_of(const config::JwtCaller& caller, std::string_view attribute) {
  constexpr std::string_view kClaim = "claim:";
  if (attribute.starts_with(kClaim)) return std::string(attribute.substr(kClaim.size()));
  const auto found = std::ranges::find(caller.attributes, attribute, &config::ClaimAttribute::attribute);
  return found == caller.attributes.end() ? std::string() : found->claim;
}

bool yields(const config::Caller& caller, std::string_view attribute) {
  if (std::holds_alternative<config::ApiKeyCaller>(caller)) {
    return attribute == "partner" || attribute == "plan" || attribute == "key";
  }
  if (const auto* header = std::get_if<config::HeaderCaller>(&caller)) return header->attribute == attribute;
  return !claim_of(std::get<config::JwtCaller>(caller), attribute).empty();
}

// The configuration without everything that says who calls, but for the claims that limits count by.
config::Config alone(const config::Config& config) {
  config::Config one = config;
  for (config::Limit& limit : one.limits) {
    std::erase_if(limit.per, [](const PerAttribute& attribute) {
      return attribute.source != PerAttribute::Source::kAttribute && attribute.source != PerAttribute::Source::kClaim;
    });
  }
  one.callers.clear();
  one.bypass.clear();
  one.identify_required = false;
  return one;
}

bool is_of_route(std::string_view name) { return name == "service" || name == "endpoint" || name == "method"; }

}  // namespace

Origins::Origins(const Scene& scene) : scene_(scene), config_(scene.generation.config) {
  for (const config::Caller& caller : config_.callers) said_.push_back(ask(caller));
  keep_secrets();
}

Origins::Said Origins::ask(const config::Caller& caller) const {
  config::Config one = alone(config_);
  one.callers = {caller};
  const identity::Identifier identifier(one, [&](const config::JwtCaller& token) { return scene_.keys.open(token); });
  identity::Counters counters;
  identity::Memory memory = identifier.make_memory(counters);
  gateway::PartnerFindings findings;
  gateway::LookupCounters lookups;
  const gateway::LookedUp nothing(false);
  const gateway::PartnerView::Moment moment{.now = scene_.times.now, .wall = scene_.times.wall, .looked_up = nothing};
  std::optional<gateway::PartnerView> partners;
  if (scene_.directory != nullptr) {
    partners.emplace(*scene_.directory, scene_.generation, moment, findings, lookups);
  }
  const identity::Arrival arrival{scene_.head, scene_.peer, scene_.times.wall,
                                  memory,      nullptr,     partners ? &*partners : nullptr};
  identity::Caller found;
  identity::Refusal why;
  Said said{.caller = &caller, .code = {}, .values = {}};
  said.good = identifier.identify(arrival, found, why) == identity::Identified::kYes;
  if (!said.good) said.code = why.code;
  for (std::size_t id = 0; said.good && id < identifier.names().size(); ++id) {
    const std::string_view value = found.attributes.get(static_cast<identity::AttributeId>(id));
    const std::string name = per_text(identifier.names().all()[id]);
    if (!value.empty() && yields(caller, name)) said.values.emplace_back(name, value);
  }
  return said;
}

std::string_view Origins::field(const std::string& name) const {
  return identity::find_field(scene_.head, identity::FieldName(name)).value;
}

bool Origins::is_believed(config::TrustedFrom from) const {
  return from == config::TrustedFrom::kAnyone || scene_.peer.trusted;
}

std::string Origins::disbelief() const {
  return fmt::format("is believed only from trusted proxies, and {} is none", scene_.peer.text);
}

void Origins::keep_secrets() {
  for (const config::Caller& caller : config_.callers) {
    if (std::holds_alternative<config::HeaderCaller>(caller)) continue;
    const std::string value(field(header_of(caller)));
    if (value.empty()) continue;
    secrets_.push_back(value);
    if (const std::size_t space = value.rfind(' '); space != std::string::npos) {
      secrets_.push_back(value.substr(space + 1));
    }
  }
}

std::string_view Origins::value_of(const Said& said, std::string_view name) const {
  const auto found = std::ranges::find(said.values, name, &std::pair<std::string, std::string>::first);
  return found == said.values.end() ? std::string_view() : std::string_view(found->second);
}

std::string Origins::key_text(const config::ApiKeyCaller& caller) const {
  const identity::ApiKeys keys(config_.keys);
  const bool configured = keys.find(field(caller.header)) != nullptr;
  return fmt::format("the key in {} ({})", caller.header, configured ? "configuration" : "policies");
}

std::string Origins::text_of(const Said& said, std::string_view attribute) const {
  if (const auto* key = std::get_if<config::ApiKeyCaller>(said.caller)) return key_text(*key);
  if (const auto* token = std::get_if<config::JwtCaller>(said.caller)) {
    return fmt::format("claim {} of the token in {}", claim_of(*token, attribute), token->header);
  }
  const auto& header = std::get<config::HeaderCaller>(*said.caller);
  const bool anyone = header.from == config::TrustedFrom::kAnyone;
  return fmt::format("header {}, {}", header.header,
                     anyone ? "believed from anyone" : "believed because the peer is a trusted proxy");
}

AttributeFacts Origins::address(std::string_view value) const {
  AttributeFacts facts{
      .name = "address", .value = std::string(value), .source = "connection", .text = "the connection"};
  if (value == scene_.peer.group) return facts;
  facts.source = "proxy";
  facts.text = fmt::format("{}, believed because the peer is a trusted proxy", config_.client_address.header);
  return facts;
}

AttributeFacts Origins::facts(const PerAttribute& attribute, std::string_view value) const {
  using enum PerAttribute::Source;
  const std::string name = per_text(attribute);
  if (name == "address") return address(value);
  AttributeFacts facts{.name = name, .value = std::string(value), .source = {}, .text = {}};
  if (value.empty()) {
    facts.text = absence(name);
    return facts;
  }
  if (attribute.source != kAttribute && attribute.source != kClaim) {
    facts.source = name.substr(0, name.find(':'));
    facts.text = "the request";
    return facts;
  }
  for (const Said& said : said_) {
    if (value_of(said, name).empty()) continue;
    facts.source = word_of(*said.caller);
    facts.text = text_of(said, name);
    return facts;
  }
  facts.source = "policies";
  facts.text = "the partner's own (policies)";
  return facts;
}

// Whether somebody may want to know that it is not there.
bool Origins::is_wanted(const std::string& name) const {
  if (name == "partner") return true;
  return std::ranges::any_of(config_.limits, [&](const config::Limit& limit) {
    return std::ranges::any_of(limit.per, [&](const PerAttribute& one) { return per_text(one) == name; }) ||
           std::ranges::find(limit.by, name, &config::ByRate::attribute) != limit.by.end() ||
           std::ranges::find(limit.only_if_missing, name) != limit.only_if_missing.end();
  });
}

std::vector<AttributeFacts> Origins::attributes(const identity::Attributes& known) const {
  std::vector<AttributeFacts> all;
  const auto& names = scene_.generation.identifier.names().all();
  for (std::size_t id = 0; id < names.size(); ++id) {
    const std::string name = per_text(names[id]);
    if (is_of_route(name)) continue;
    const std::string_view value = known.get(static_cast<identity::AttributeId>(id));
    if (!value.empty() || is_wanted(name)) all.push_back(facts(names[id], value));
  }
  return all;
}

std::string Origins::absence(const Said& said, std::string_view name) const {
  const std::string header = header_of(*said.caller);
  const std::string_view value = field(header);
  if (value.empty()) return fmt::format("the request has no {}", header);
  if (const auto* one = std::get_if<config::HeaderCaller>(said.caller); one != nullptr && !is_believed(one->from)) {
    return header + " " + disbelief();
  }
  if (!said.good) return fmt::format("what is in {} is not taken ({})", header, said.code);
  if (const auto* token = std::get_if<config::JwtCaller>(said.caller)) {
    return fmt::format("the token in {} has no claim {}", header, claim_of(*token, name));
  }
  if (!value_of(said, "partner").empty()) return fmt::format("the key in {} has none", header);
  return fmt::format("whose key is in {} cannot be found out: the database does not answer", header);
}

std::string Origins::absence(const std::string& name) const {
  std::string text;
  for (const Said& said : said_) {
    if (!yields(*said.caller, name)) continue;
    const std::string why = absence(said, name);
    if (text.find(why) == std::string::npos) text += (text.empty() ? "" : "; ") + why;
  }
  if (!text.empty()) return text;
  return name.find(':') == std::string::npos ? "nothing in `identify` gives it" : "the request has none";
}

std::vector<std::string> Origins::notes() const {
  std::vector<std::string> notes;
  for (const Said& said : said_) {
    const auto* one = std::get_if<config::HeaderCaller>(said.caller);
    if (one == nullptr || field(one->header).empty()) continue;
    if (!is_believed(one->from)) {
      notes.push_back(fmt::format("{} was sent, but {}", one->header, disbelief()));
    } else if (const auto first = std::ranges::find_if(
                   said_, [&](const Said& other) { return !value_of(other, one->attribute).empty(); });
               first != said_.end() && &*first != &said) {
      notes.push_back(fmt::format("{} was sent, but {} is known from what comes before it in `identify`", one->header,
                                  one->attribute));
    }
  }
  const std::string& proxies = config_.client_address.header;
  if (!field(proxies).empty() && !scene_.peer.trusted) {
    notes.push_back(fmt::format("{} was sent, but {}", proxies, disbelief()));
  }
  return notes;
}

std::string Origins::bypass() const {
  for (std::size_t i = 0; i < config_.bypass.size(); ++i) {
    config::Config one = alone(config_);
    one.bypass = {config_.bypass[i]};
    const identity::Identifier identifier(one);
    identity::Counters counters;
    identity::Memory memory = identifier.make_memory(counters);
    identity::Caller found;
    identity::Refusal why;
    const identity::Arrival arrival{scene_.head, scene_.peer, scene_.times.wall, memory, nullptr, nullptr};
    identifier.identify(arrival, found, why);
    if (!found.bypass) continue;
    const auto* header = std::get_if<config::HeaderBypass>(&config_.bypass[i]);
    if (header == nullptr) return fmt::format("entry {} of bypass: the address", i + 1);
    return fmt::format("entry {} of bypass: the value of {}", i + 1, header->header);
  }
  return {};
}

// Of a key that the policies have, but not for now.
std::string Origins::key_trouble(const config::ApiKeyCaller& caller) const {
  if (scene_.directory == nullptr) return {};
  const auto subject = partners::subject_of(partners::digest_of(field(caller.header)));
  const lookup::Found found = scene_.directory->find(subject, scene_.times.now);
  const auto* key = found.known == nullptr ? nullptr : std::get_if<partners::Key>(&found.known->record);
  if (key == nullptr) return {};
  if (!key->enabled) return fmt::format("; it is key {} of {}, which is switched off", key->id, key->partner);
  if (key->expires && *key->expires <= scene_.times.wall) {
    return fmt::format("; it is key {} of {}, which has expired on {}", key->id, key->partner,
                       partners::time_text(*key->expires));
  }
  if (!key->not_before || *key->not_before <= scene_.times.wall) return {};
  return fmt::format("; it is key {} of {}, which holds from {} on", key->id, key->partner,
                     partners::time_text(*key->not_before));
}

std::string Origins::blame(std::string_view code) const {
  for (const Said& said : said_) {
    if (said.good || said.code != code) continue;
    const std::string header = header_of(*said.caller);
    if (const auto* key = std::get_if<config::ApiKeyCaller>(said.caller)) {
      return fmt::format("the key in {}", header) + key_trouble(*key);
    }
    const bool token = std::holds_alternative<config::JwtCaller>(*said.caller);
    return fmt::format("the {} in {}", token ? "token" : "value", header);
  }
  return {};
}

}  // namespace weir::explain
