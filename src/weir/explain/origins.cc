// SPDX-License-Identifier: Apache-2.0
#include "weir/explain/origins.h"

#include <fmt/format.h>

#include <algorithm>

#include "weir/identity/token_callers.h"
#include "weir/partners/digest.h"
#include "weir/partners/time_text.h"
#include "weir/policy/compiler.h"

namespace weir::explain {
namespace {

using config::PerAttribute;
using policy::per_text;

std::string word_of(const config::Caller& caller) {
  if (std::holds_alternative<config::ApiKeyCaller>(caller)) return "key";
  return std::holds_alternative<config::HeaderCaller>(caller) ? "header" : "token";
}

bool is_of_route(std::string_view name) { return name == "service" || name == "endpoint" || name == "method"; }

}  // namespace

Origins::Origins(const Scene& scene, const Secrets& secrets)
    : scene_(scene), secrets_(secrets), config_(scene.generation.config), hearing_(scene) {}

identity::Single Origins::field(const std::string& name) const {
  return identity::find_field(scene_.head, identity::FieldName(name));
}

bool Origins::is_believed(config::TrustedFrom from) const {
  return from == config::TrustedFrom::kAnyone || scene_.peer.trusted;
}

std::string Origins::disbelief() const {
  return fmt::format("is believed only from trusted proxies, and {} is none", scene_.peer.text);
}

std::string Origins::key_text(const config::ApiKeyCaller& caller) const {
  const identity::ApiKeys keys(config_.keys);
  const bool configured = keys.find(field(caller.header).value) != nullptr;
  return fmt::format("the key in {} ({})", caller.header, configured ? "configuration" : "policies");
}

std::string Origins::text_of(const Testimony& said, std::string_view attribute) const {
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
  const std::string name = per_text(attribute);
  if (name == "address") return address(value);
  AttributeFacts facts{.name = name, .value = std::string(value), .source = {}, .text = {}};
  if (value.empty()) {
    facts.text = absence(attribute);
    return facts;
  }
  if (secrets_.hides(name, value)) facts.value = kHidden;
  if (is_of_request(attribute)) {
    facts.source = name.substr(0, name.find(':'));
    facts.text = "the request";
    return facts;
  }
  for (const Testimony& said : hearing_.callers()) {
    if (said.value_of(name).empty()) continue;
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

std::vector<AttributeFacts> Origins::attributes() const {
  std::vector<AttributeFacts> all;
  const identity::Attributes& known = scene_.scratch.caller.attributes;
  const auto& names = scene_.generation.identifier.names().all();
  for (std::size_t id = 0; id < names.size(); ++id) {
    const std::string name = per_text(names[id]);
    if (is_of_route(name)) continue;
    const std::string_view value = known.get(static_cast<identity::AttributeId>(id));
    if (!value.empty() || is_wanted(name)) all.push_back(facts(names[id], value));
  }
  return all;
}

std::string Origins::absence(const Testimony& said, std::string_view name) const {
  const std::string header = header_of(*said.caller);
  const identity::Single sent = field(header);
  if (!sent.present) return fmt::format("the request has no {}", header);
  if (const auto* one = std::get_if<config::HeaderCaller>(said.caller); one != nullptr && !is_believed(one->from)) {
    return header + " " + disbelief();
  }
  if (!said.asked) return fmt::format("the request is refused before {} is looked at", header);
  if (!said.good) return fmt::format("what is in {} is not taken ({})", header, said.code);
  if (sent.value.empty()) return header + " is empty";
  return silence(said, name);
}

// Of a field that was taken.
std::string Origins::silence(const Testimony& said, std::string_view name) const {
  const std::string header = header_of(*said.caller);
  if (const auto* token = std::get_if<config::JwtCaller>(said.caller)) {
    if (!identity::token_in(identity::FieldName(header), field(header).value)) {
      return fmt::format("{} has no Bearer token", header);
    }
    if (said.other_issuer) return fmt::format("the token in {} is another issuer's", header);
    return fmt::format("the token in {} has no claim {} that is a text, a whole number, true or false", header,
                       claim_of(*token, name));
  }
  if (std::holds_alternative<config::HeaderCaller>(*said.caller)) return header + " does not say";
  if (!said.value_of("partner").empty()) return fmt::format("the key in {} has none", header);
  return fmt::format("whose key is in {} cannot be found out: the database does not answer", header);
}

const Reading* Origins::reading_of(const PerAttribute& attribute) const {
  const auto found =
      std::ranges::find_if(hearing_.readings(), [&](const Reading& one) { return *one.attribute == attribute; });
  return found == hearing_.readings().end() ? nullptr : &*found;
}

std::string Origins::absence(const PerAttribute& attribute) const {
  const std::string name = per_text(attribute);
  if (const Reading* reading = reading_of(attribute)) {
    if (reading->good && reading->value_of(name).empty()) return "the request has none";
    if (!reading->asked) return "the request is refused before it is looked at";
    return fmt::format("what the request has is not taken ({})", reading->code);
  }
  std::string text;
  const auto add = [&text](const std::string& why) {
    if (!why.empty() && text.find(why) == std::string::npos) text += (text.empty() ? "" : "; ") + why;
  };
  for (const Testimony& said : hearing_.callers()) {
    if (yields(*said.caller, name)) add(absence(said, name));
  }
  if (text.empty()) text = "nothing in `identify` gives it";
  if (name == "plan") add(missing_plan());
  return text;
}

// What the policies say of the partner's own; empty: they were not asked.
std::string Origins::missing_plan() const {
  const bool refused = std::ranges::any_of(hearing_.callers(), [](const Testimony& said) { return !said.good; }) ||
                       std::ranges::any_of(hearing_.readings(), [](const Reading& one) { return !one.good; });
  const identity::Attributes& known = scene_.scratch.caller.attributes;
  if (scene_.directory == nullptr || refused || !known.has(identity::kPartner)) return {};
  const std::string partner = secrets_.shown(known.get(identity::kPartner));
  const lookup::KnownPtr& found = scene_.scratch.partner.partner;
  if (found == nullptr)
    return fmt::format("that of partner {} cannot be found out: the database does not answer", partner);
  if (found->absent()) return fmt::format("the policies know no partner {}", partner);
  return fmt::format("partner {} has none in the policies", partner);
}

std::vector<std::string> Origins::notes() const {
  std::vector<std::string> notes;
  const std::vector<Testimony>& all = hearing_.callers();
  for (const Testimony& said : all) {
    const auto* one = std::get_if<config::HeaderCaller>(said.caller);
    if (one == nullptr || !field(one->header).present) continue;
    const auto knows = [&](const Testimony& other) { return !other.value_of(one->attribute).empty(); };
    if (!is_believed(one->from)) {
      notes.push_back(fmt::format("{} was sent, but {}", one->header, disbelief()));
    } else if (const auto first = std::ranges::find_if(all, knows);
               said.asked && first != all.end() && &*first < &said) {
      notes.push_back(fmt::format("{} was sent, but {} is known from what comes before it in `identify`", one->header,
                                  one->attribute));
    }
  }
  const std::string& proxies = config_.client_address.header;
  if (field(proxies).present && !scene_.peer.trusted) {
    notes.push_back(fmt::format("{} was sent, but {}", proxies, disbelief()));
  }
  return notes;
}

std::string Origins::bypass() const {
  const auto entry = hearing_.bypass();
  if (!entry) return {};
  const auto* header = std::get_if<config::HeaderBypass>(&config_.bypass[*entry]);
  if (header == nullptr) return fmt::format("entry {} of bypass: the address", *entry + 1);
  return fmt::format("entry {} of bypass: the value of {}", *entry + 1, header->header);
}

// Of a key that the policies have, but not for now.
std::string Origins::key_trouble(const config::ApiKeyCaller& caller) const {
  if (scene_.directory == nullptr) return {};
  const auto subject = partners::subject_of(partners::digest_of(field(caller.header).value));
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
  for (const Testimony& said : hearing_.callers()) {
    if (said.good || !said.asked || said.code != code) continue;
    const std::string header = header_of(*said.caller);
    if (const auto* key = std::get_if<config::ApiKeyCaller>(said.caller)) {
      return fmt::format("the key in {}", header) + key_trouble(*key);
    }
    const bool token = std::holds_alternative<config::JwtCaller>(*said.caller);
    return fmt::format("the {} in {}", token ? "token" : "value", header);
  }
  for (const Reading& reading : hearing_.readings()) {
    if (!reading.good && reading.asked && reading.code == code) return per_text(*reading.attribute);
  }
  return {};
}

}  // namespace weir::explain
