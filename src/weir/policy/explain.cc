// SPDX-License-Identifier: Apache-2.0
//
// Policy::explain. Whether a limit acts is asked of the same code that charges; only why it does not is found here.
#include <algorithm>
#include <utility>

#include "weir/policy/compiler.h"
#include "weir/policy/conditions.h"
#include "weir/policy/policy.h"
#include "weir/policy/scene.h"

namespace weir::policy {
namespace {

// Of the two rules of a limit that acts by rows, the one that tells more: that which acts, or may by its row.
bool tells_more(const Finding& a, const Finding& b) {
  const auto rank = [](const Finding& finding) {
    if (finding.acts == Acts::kCharged) return 0;
    if (finding.acts == Acts::kSkipped || finding.acts == Acts::kRefuses) return 1;
    return finding.acts == Acts::kNoRow ? 3 : 2;
  };
  return rank(a) < rank(b);
}

}  // namespace

std::vector<Finding> Policy::explain(const route::Route& route, const http::RequestHead& request,
                                     const identity::Caller& caller, const CallerRows& rows) const {
  std::vector<Finding> findings(limits_.size());
  for (std::size_t i = 0; i < findings.size(); ++i) {
    findings[i].limit = static_cast<LimitIndex>(i);
    findings[i].shadow = limits_[i].mode == config::Mode::kShadow;
  }
  std::vector<bool> seen(limits_.size());
  std::vector<RuleIndex> wanted;
  find_rules(route, wanted);
  const Scene scene{route, request, caller.attributes, rows};
  for (std::size_t index = 0; index < rules_.size(); ++index) {
    const Rule& rule = rules_[index];
    Finding finding;
    finding.limit = rule.limit;
    finding.shadow = rule.shadow;
    if (caller.bypass) {
      finding.acts = Acts::kBypassed;
    } else if (std::ranges::binary_search(wanted, static_cast<RuleIndex>(index))) {
      finding = examine(rule, scene);
    } else {
      finding.acts = serves(rule, route.service) ? Acts::kOtherEndpoint : Acts::kOtherService;
    }
    const bool better = !seen[rule.limit] || tells_more(finding, findings[rule.limit]);
    if (better) findings[rule.limit] = std::move(finding);
    seen[rule.limit] = true;
  }
  return findings;
}

// A rule that has to be looked at, by itself.
Finding Policy::examine(const Rule& rule, const Scene& scene) const {
  Finding finding;
  finding.limit = rule.limit;
  finding.shadow = rule.shadow;
  if (const Rule::Alternative* alternative = alternative_for(rule, scene.attributes)) {
    finding.alternative = static_cast<std::size_t>(alternative - rule.alternatives.data());
  }
  if (rule.from_rows) finding.row = find_row(rule, scene);
  for (const identity::AttributeId id : kinds_[rule.kind].attributes) {
    if (can_be_missing(id) && !scene.attributes.has(id)) finding.lacking.push_back(attributes_[id]);
  }
  Charges charges;
  Scene own = scene;
  apply(rule, own, charges);
  finding.acts = reason(rule, scene, charges, finding);
  if (finding.acts == Acts::kCharged) describe(rule, scene, charges, finding);
  return finding;
}

std::optional<Finding::Row> Policy::find_row(const Rule& rule, const Scene& scene) const {
  const RowTable::Scope wanted = row_scope(rule, scene.route);
  for (const RowTable* table : {scene.rows.partner, scene.rows.plan}) {
    const auto found = table == nullptr ? std::nullopt : table->find_scope(wanted);
    if (found) return Finding::Row{.of_plan = table == scene.rows.plan, .scope = *found};
  }
  return std::nullopt;
}

// In the order in which apply asks.
Acts Policy::reason(const Rule& rule, const Scene& scene, const Charges& charges, Finding& finding) const {
  if (!charges.charges.empty()) return Acts::kCharged;
  if (!charges.skipped.empty()) return Acts::kSkipped;
  if (charges.missing_refuses != Charges::kNone) return Acts::kRefuses;
  if (const identity::AttributeId* there = hindrance(rule, scene.attributes)) {
    finding.hindrance = attributes_[*there];
    return Acts::kAttributeThere;
  }
  if (!rule.from_rows) return Acts::kNotLimited;
  if (!scene.attributes.has(identity::kPartner)) return Acts::kNoPartner;
  if (!scene.rows.known) return Acts::kRowsUnknown;
  const auto acting = scene.rows.find(row_scope(rule, scene.route));
  const bool mine = acting && (rule.any_mode || acting->shadow == rule.shadow);
  return mine ? Acts::kNotLimited : Acts::kNoRow;  // without a row, or of the limit's other rule
}

void Policy::describe(const Rule& rule, const Scene& scene, Charges& charges, Finding& finding) const {
  const AccountKind& kind = kinds_[rule.kind];
  const store::Charge& charge = charges.charges.front();
  finding.kind = rule.kind;
  for (const identity::AttributeId id : kind.attributes) finding.per.push_back(attributes_[id]);
  charges.names.clear();
  finding.account = account_text(name_account(kind, rule.shadow, scene, charges.names));
  finding.variant = charge.variant;
  finding.slot = charge.slot;
  finding.cost = charge.cost;
  if (const auto* field = std::get_if<FieldCost>(&rule.cost)) finding.cost_field = field->field.text;
  if (rule.spread.by_method) finding.method = method_text(method_number(scene.attributes.get(identity::kMethod)));
  finding.by_endpoint = rule.spread.by_endpoint || rule.spread.by_row;
  route::PatternIndex endpoint = rule.shadow ? scene.route.shadow_endpoint : scene.route.endpoint;
  if (rule.spread.by_row) endpoint = finding.row ? finding.row->scope.endpoint : RowTable::kEvery;
  if (finding.by_endpoint && endpoint < endpoints_.size()) finding.endpoint = endpoints_[endpoint];
}

}  // namespace weir::policy
