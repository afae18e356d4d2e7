// SPDX-License-Identifier: Apache-2.0
#include "weir/explain/hearing.h"

#include <algorithm>

#include "weir/gateway/partner_view.h"
#include "weir/http/field.h"
#include "weir/policy/compiler.h"

namespace weir::explain {
namespace {

using config::PerAttribute;
using policy::per_text;

// The configuration without everything that says who calls, but for the claims that limits count by.
config::Config alone(const config::Config& config) {
  config::Config one = config;
  for (config::Limit& limit : one.limits) std::erase_if(limit.per, is_of_request);
  one.callers.clear();
  one.bypass.clear();
  return one;
}

const config::JwtCaller* token_of(const config::Caller& caller) { return std::get_if<config::JwtCaller>(&caller); }

// A token is asked for once, for all callers that read it from the same field.
bool share_token(const config::Caller& one, const config::Caller& other) {
  return token_of(one) != nullptr && token_of(other) != nullptr && http::same_name(header_of(one), header_of(other));
}

}  // namespace

bool is_of_request(const PerAttribute& attribute) {
  return attribute.source != PerAttribute::Source::kAttribute && attribute.source != PerAttribute::Source::kClaim;
}

std::string header_of(const config::Caller& caller) {
  return std::visit([](const auto& one) { return one.header; }, caller);
}

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
  return !claim_of(*token_of(caller), attribute).empty();
}

std::string_view Answer::value_of(std::string_view attribute) const {
  const auto found = std::ranges::find(values, attribute, &std::pair<std::string, std::string>::first);
  return found == values.end() ? std::string_view() : std::string_view(found->second);
}

Hearing::Hearing(const Scene& scene) : scene_(scene), config_(scene.generation.config) {
  for (const config::Caller& caller : config_.callers) callers_.push_back(hear(caller));
  read_attributes(stop_callers());
}

// That nobody is known yet is no fault of who is asked.
Answer Hearing::ask(const config::Config& one) const {
  const identity::Identifier identifier(one, [&](const config::JwtCaller& token) { return scene_.keys.open(token); });
  identity::Counters counters;
  identity::Memory memory = identifier.make_memory(counters);
  gateway::PartnerFindings findings;
  gateway::LookupCounters lookups;
  const gateway::PartnerView::Moment moment{
      .now = scene_.times.now, .wall = scene_.times.wall, .looked_up = scene_.looked_up};
  std::optional<gateway::PartnerView> partners;
  if (scene_.directory != nullptr) {
    partners.emplace(*scene_.directory, scene_.generation, moment, findings, lookups);
  }
  const identity::Arrival arrival{scene_.head, scene_.peer, scene_.times.wall,
                                  memory,      nullptr,     partners ? &*partners : nullptr};
  identity::Caller found;
  identity::Refusal why;
  const bool known = identifier.identify(arrival, found, why) == identity::Identified::kYes;
  Answer answer{.good = known || why.code == "unidentified", .code = {}, .values = {}};
  if (!answer.good) answer.code = why.code;
  for (std::size_t id = 0; answer.good && id < identifier.names().size(); ++id) {
    const std::string_view value = found.attributes.get(static_cast<identity::AttributeId>(id));
    if (!value.empty()) answer.values.emplace_back(per_text(identifier.names().all()[id]), value);
  }
  return answer;
}

// Those with which it is asked.
std::vector<config::Caller> Hearing::group_of(const config::Caller& caller) const {
  if (token_of(caller) == nullptr) return {caller};
  std::vector<config::Caller> group;
  for (const config::Caller& other : config_.callers) {
    if (share_token(caller, other)) group.push_back(other);
  }
  return group;
}

Testimony Hearing::hear(const config::Caller& caller) const {
  config::Config one = alone(config_);
  one.callers = group_of(caller);
  const bool shared = one.callers.size() > 1;
  Testimony said{ask(one), &caller};
  if (said.good && shared) {
    one.callers = {caller};
    said.other_issuer = !ask(one).good;
  }
  std::erase_if(said.values, [&](const auto& value) { return said.other_issuer || !yields(caller, value.first); });
  return said;
}

// In the order of the callers, the one with which this one is asked.
std::size_t Hearing::place_of(std::size_t index) const {
  for (std::size_t i = 0; i < index; ++i) {
    if (share_token(*callers_[i].caller, *callers_[index].caller)) return i;
  }
  return index;
}

// A second key is one too many. True: the request is refused here.
bool Hearing::stop_callers() {
  std::size_t stop = callers_.size();
  bool has_key = false;
  for (std::size_t i = 0; i < callers_.size(); ++i) {
    Testimony& said = callers_[i];
    const auto* key = std::get_if<config::ApiKeyCaller>(said.caller);
    const bool is_sent =
        key != nullptr && !identity::find_field(scene_.head, identity::FieldName(key->header)).value.empty();
    if (is_sent && has_key && said.code != "identity-too-long") {
      static_cast<Answer&>(said) = {.good = false, .code = "identity-twice", .values = {}};
    }
    has_key = has_key || is_sent;
    if (!said.good) stop = std::min(stop, place_of(i));
  }
  for (std::size_t i = 0; i < callers_.size(); ++i) callers_[i].asked = place_of(i) <= stop;
  return stop < callers_.size();
}

void Hearing::read_attributes(bool stopped) {
  for (const PerAttribute& attribute : scene_.generation.identifier.names().all()) {
    if (!is_of_request(attribute)) continue;
    config::Config one = alone(config_);
    one.limits.assign(1, config::Limit{});
    one.limits.front().per = {attribute};
    Reading& reading = readings_.emplace_back(Reading{ask(one), &attribute});
    reading.asked = !stopped;
    stopped = stopped || !reading.good;
  }
}

std::optional<std::size_t> Hearing::bypass() const {
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
    if (found.bypass) return i;
  }
  return std::nullopt;
}

}  // namespace weir::explain
