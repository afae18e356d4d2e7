// SPDX-License-Identifier: Apache-2.0
#include "weir/explain/forecast.h"

#include <algorithm>
#include <span>

#include "weir/decide/order.h"

namespace weir::explain {
namespace {

using store::Foreseen;

bool all_admitted(const std::vector<Foreseen>& told) {
  return std::ranges::all_of(told, [](const Foreseen& one) { return one.asked.admitted; });
}

// Of an account that refuses, limits that would have admitted say that they are as they were.
void append(const policy::Charges& charges, const policy::AccountCharges& account, const std::vector<Foreseen>& told,
            std::vector<decide::LimitOutcome>& to) {
  const bool admitted = account.shadow || all_admitted(told);
  for (std::size_t i = 0; i < told.size(); ++i) {
    const policy::ChargedLimit& charged = charges.limits[account.first + i];
    const bool shows_asked = admitted || !told[i].asked.admitted;
    to.push_back({charged.limit, charged.variant, charged.breadth, shows_asked ? told[i].asked : told[i].seen});
  }
}

}  // namespace

store::Foreseen fresh(const limit::Limit& limit, limit::Ticks wall, std::uint64_t phase, limit::Cost cost) {
  store::Foreseen foreseen;
  foreseen.seen = {.admitted = true, .remaining = limit.capacity(), .retry_after = 0, .next_after = {}};
  foreseen.asked = store::foresee(limit, foreseen.seen, {.now = 0, .wall = wall, .phase = phase}, cost);
  return foreseen;
}

std::vector<AccountQuestion> questions_of(const policy::Charges& charges,
                                          const std::vector<policy::Finding>& findings,
                                          const std::vector<policy::LimitInfo>& limits) {
  std::vector<AccountQuestion> questions;
  for (const policy::AccountCharges& account : charges.accounts) {
    AccountQuestion& question = questions.emplace_back(
        AccountQuestion{.account = account,
                        .name = account.shared == nullptr ? std::string_view() : charges.name_of(account),
                        .charges = std::span(charges.charges).subspan(account.first, account.count),
                        .findings = {},
                        .limits = {}});
    for (std::uint32_t i = account.first; i < account.first + account.count; ++i) {
      question.findings.push_back(&findings[charges.limits[i].limit]);
      question.limits.push_back(&limits[charges.limits[i].limit]);
    }
  }
  return questions;
}

std::vector<std::vector<Foreseen>> all_fresh(const std::vector<AccountQuestion>& questions, limit::Ticks wall) {
  std::vector<std::vector<Foreseen>> all;
  for (const AccountQuestion& question : questions) {
    auto& told = all.emplace_back();
    for (std::size_t i = 0; i < question.charges.size(); ++i) {
      const store::Charge& charge = question.charges[i];
      told.push_back(fresh(question.limits[i]->variant(charge.variant), wall, question.account.phase, charge.cost));
    }
  }
  return all;
}

decide::Decision forecast(const policy::Charges& charges, const std::vector<std::vector<Foreseen>>& told,
                          limit::Ticks wall) {
  decide::Decision decision;
  decision.wall = wall;
  decision.reached = charges.unknown ? decide::Reached::kOpen : decide::Reached::kNoLimit;
  for (std::size_t i = 0; i < charges.accounts.size(); ++i) {
    const policy::AccountCharges& account = charges.accounts[i];
    if (account.shadow) {
      if (decision.admitted) append(charges, account, told[i], decision.shadow);
      continue;
    }
    if (!decision.admitted) continue;
    decision.reached = decide::Reached::kEvaluated;
    decision.admitted = all_admitted(told[i]);
    if (!decision.admitted) decision.outcomes.clear();
    append(charges, account, told[i], decision.outcomes);
  }
  decide::order_outcomes(decision.outcomes);
  return decision;
}

}  // namespace weir::explain
