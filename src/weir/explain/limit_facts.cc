// SPDX-License-Identifier: Apache-2.0
#include "weir/explain/limit_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "weir/accounts/limit_text.h"
#include "weir/policy/compiler.h"

namespace weir::explain {
namespace {

using policy::Acts;
using policy::Finding;

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

std::string services_of(const config::Config& config, const config::Limit& limit) {
  std::vector<std::string> names;
  for (const std::size_t service : limit.services) names.push_back(config.services[service].name);
  return joined(names);
}

std::string endpoints_of(const config::Limit& limit) {
  std::vector<std::string> texts;
  for (const config::EndpointPattern& pattern : limit.match) texts.push_back(pattern.text);
  return joined(texts);
}

std::string by_text(const config::ByRate& by) { return fmt::format("`by` {}: {}", by.attribute, by.value); }

const std::vector<partners::LimitRow>* rows_of(const lookup::KnownPtr& known) {
  if (known == nullptr) return nullptr;
  if (const auto* partner = std::get_if<partners::PartnerRecord>(&known->record)) return &partner->limits;
  if (const auto* plan = std::get_if<partners::PlanRecord>(&known->record)) return &plan->limits;
  return nullptr;
}

// "the row of partner acme for POST /orders"
std::string row_text(const Finding& finding, const LimitScene& scene) {
  const auto& [of_plan, scope] = *finding.row;
  const auto id = of_plan ? identity::kPlan : identity::kPartner;
  std::string text =
      fmt::format("the row of {} {}", of_plan ? "plan" : "partner", scene.secrets.shown(scene.attributes.get(id)));
  const auto& services = scene.generation.config.services;
  const auto& patterns = scene.generation.router.patterns();
  if (scope.service < services.size()) text += " for " + services[scope.service].name;
  if (scope.endpoint < patterns.size()) text += " for " + patterns[scope.endpoint].text;
  return text;
}

std::string owner_of(const LimitScene& scene) {
  const auto value = [&](identity::AttributeId id) { return scene.secrets.shown(scene.attributes.get(id)); };
  std::string partner = fmt::format("partner {}", value(identity::kPartner));
  if (!scene.attributes.has(identity::kPlan)) return partner;
  return fmt::format("{} or plan {}", partner, value(identity::kPlan));
}

std::string unlimited_text(const Finding& finding, const config::Limit& limit, const LimitScene& scene) {
  if (finding.row) return row_text(finding, scene) + " says unlimited";
  if (finding.alternative) return by_text(limit.by[*finding.alternative]) + " is unlimited";
  return "its rate is unlimited";
}

std::string admitted_text(const LimitFacts& facts) {
  if (facts.without_store == "nothing") return "it only watches (shadow), and cannot: the store does not answer";
  if (facts.shadow) return "it only watches (shadow)";
  if (facts.without_store == "open") {
    return "it lets the request pass and counts nothing: the store does not answer (on_store_failure: open)";
  }
  if (facts.without_store == "local") {
    return "it counts the request in the gateway's own share (on_store_failure: local)";
  }
  return "it counts the request";
}

std::string text_of(const Finding& finding, const config::Limit& limit, const LimitScene& scene) {
  switch (finding.acts) {
    case Acts::kCharged:  // conclude
      return {};
    case Acts::kBypassed:
      return "the caller is on the bypass list";
    case Acts::kOtherService:
      return "it is for " + services_of(scene.generation.config, limit);
    case Acts::kOtherEndpoint:
      return "it is for " + endpoints_of(limit);
    case Acts::kAttributeThere:
      return fmt::format("it acts only on requests without {}, and there is one", finding.hindrance);
    case Acts::kNotLimited:
      return unlimited_text(finding, limit, scene);
    case Acts::kNoPartner:
      return "its rates are in the policies, and the caller is no partner";
    case Acts::kNoRow:
      return fmt::format("its rates are in the policies, and {} has no row for it", owner_of(scene));
    case Acts::kRowsUnknown:
      return "its rates are in the policies, and the database does not answer";
    case Acts::kSkipped:
      return fmt::format("it counts by {}, which the request lacks (missing: skip)", joined(finding.lacking));
    case Acts::kRefuses:
      return fmt::format("it counts by {}, which the request lacks (missing: refuse)", joined(finding.lacking));
  }
  return {};
}

std::string algorithm_of(const config::Limit& limit, const policy::LimitInfo& info, policy::VariantIndex variant) {
  const bool has_rows = info.rows != nullptr && variant != policy::kUnlimited;
  return has_rows ? accounts::algorithm_text(info.variant(variant)) : accounts::algorithm_text(limit.algorithm);
}

// With the row's own words where there is a row.
std::string numbers_from(const Finding& finding, const config::Limit& limit, const LimitScene& scene) {
  if (finding.row) {
    const auto* rows = rows_of(finding.row->of_plan ? scene.partner.plan : scene.partner.partner);
    return rows == nullptr ? "policies" : row_text(finding, scene);
  }
  return finding.alternative ? by_text(limit.by[*finding.alternative]) : std::string("the limit itself");
}

std::string cost_from(const Finding& finding, const config::Limit& limit) {
  if (!finding.cost_field.empty()) return "header " + finding.cost_field;
  if (const auto* response = std::get_if<config::ResponseCost>(&limit.cost)) {
    return fmt::format("reserved; the answer's {} settles it", response->header);
  }
  return limit.counted.rule == config::CountedAnswers::Rule::kAll ? "" : "given back if the answer does not count";
}

std::vector<std::string> hidden_of(const Finding& finding, const LimitScene& scene) {
  std::vector<std::string> hidden;
  const auto& names = scene.generation.identifier.names().all();
  for (std::size_t id = 0; id < names.size(); ++id) {
    const std::string name = policy::per_text(names[id]);
    const std::string_view value = scene.attributes.get(static_cast<identity::AttributeId>(id));
    const bool counts = std::ranges::find(finding.per, name) != finding.per.end();
    if (counts && !value.empty() && scene.secrets.hides(name, value)) hidden.push_back(name);
  }
  return hidden;
}

void add_account(const Finding& finding, const LimitScene& scene, LimitFacts& facts) {
  const config::Config& config = scene.generation.config;
  facts.cost = finding.cost;
  facts.account = shown_account(finding.account, finding.per, hidden_of(finding, scene));
  if (config.redis) facts.key = fmt::format("{}:{{{}}}", config.redis->prefix, facts.account);
  facts.per = finding.per;
  facts.by_endpoint = finding.by_endpoint;
  facts.endpoint = finding.endpoint;
  facts.method = finding.method;
}

LimitFacts begin(const policy::LimitInfo& info, const config::Limit& limit) {
  LimitFacts facts;
  facts.name = info.name;
  facts.shadow = limit.mode == config::Mode::kShadow;
  facts.algorithm = accounts::algorithm_text(limit.algorithm);
  if (!info.variants.empty()) {
    facts.numbers = accounts::numbers_text(info.variants.front(), info.variant_rates.front());
    facts.numbers_from = "the limit itself";
  }
  return facts;
}

}  // namespace

std::string word_of(Acts acts) {
  switch (acts) {
    case Acts::kCharged:
      return "charged";
    case Acts::kBypassed:
      return "bypassed";
    case Acts::kOtherService:
      return "other_service";
    case Acts::kOtherEndpoint:
      return "other_endpoint";
    case Acts::kAttributeThere:
      return "attribute_there";
    case Acts::kNotLimited:
      return "unlimited";
    case Acts::kNoPartner:
      return "no_partner";
    case Acts::kNoRow:
      return "no_row";
    case Acts::kRowsUnknown:
      return "rows_unknown";
    case Acts::kSkipped:
      return "attribute_missing";
    case Acts::kRefuses:
      return "attribute_missing_refused";
  }
  return {};
}

LimitFacts facts_of(const Finding& finding, const LimitScene& scene) {
  const config::Limit& limit = scene.generation.config.limits[finding.limit];
  const policy::LimitInfo& info = scene.generation.policy.limits()[finding.limit];
  LimitFacts facts = begin(info, limit);
  facts.reason = word_of(finding.acts);
  facts.text = text_of(finding, limit, scene);
  facts.shadow = finding.shadow;
  if (finding.acts != Acts::kCharged) return facts;
  facts.applies = true;
  facts.algorithm = algorithm_of(limit, info, finding.variant);
  facts.numbers = accounts::numbers_text(info.variant(finding.variant), info.rate(finding.variant));
  facts.numbers_from = numbers_from(finding, limit, scene);
  facts.cost_from = cost_from(finding, limit);
  add_account(finding, scene, facts);
  return facts;
}

// A request that is not admitted counts nowhere: what was taken before is given back, and shadows are asked last.
void conclude(const Ending& ending, bool refuses, LimitFacts& facts) {
  facts.counts = ending.admitted && facts.without_store != "open" && facts.without_store != "nothing";
  if (ending.admitted) {
    facts.text = admitted_text(facts);
  } else if (refuses) {
    facts.text = "it refuses the request";
    if (facts.without_store == "local") facts.text += " by the gateway's own share (on_store_failure: local)";
  } else if (ending.store_closed && facts.without_store == "closed") {
    facts.text = "it refuses the request: the store does not answer (on_store_failure: closed)";
  } else if (facts.shadow) {
    facts.text = "it only watches (shadow), and is not asked: " + ending.why;
  } else {
    facts.text = "it applies, but counts nothing: " + ending.why;
  }
}

LimitFacts not_reached(const policy::LimitInfo& info, const config::Limit& limit) {
  LimitFacts facts = begin(info, limit);
  facts.reason = "not_reached";
  facts.text = "the request is answered before limits are looked at";
  return facts;
}

}  // namespace weir::explain
