// SPDX-License-Identifier: Apache-2.0
#include "weir/decide/decider.h"

#include <algorithm>
#include <span>

namespace weir::decide {
namespace {

std::span<const store::Charge> run_of(const policy::Charges& charges, const policy::AccountCharges& account) {
  return std::span(charges.charges).subspan(account.first, account.count);
}

void append_outcomes(const policy::Charges& charges, const policy::AccountCharges& account,
                     const std::vector<limit::Outcome>& outcomes, std::vector<LimitOutcome>& to) {
  for (std::uint32_t at = 0; at < account.count; ++at) {
    const policy::ChargedLimit& charged = charges.limits[account.first + at];
    to.push_back({charged.limit, charged.variant, outcomes[at]});
  }
}

// Whether `a` binds rather than `b`: of refusing limits the one that no wait helps, then the one with the longest
// wait; of admitting ones the one with the least remaining, then the one that takes longest to be full. Otherwise
// neither, so that configuration order decides.
bool binds_before(const LimitOutcome& a, const LimitOutcome& b) {
  const limit::Outcome& x = a.outcome;
  const limit::Outcome& y = b.outcome;
  if (x.admitted != y.admitted) return !x.admitted;
  if (x.admitted) return x.remaining != y.remaining ? x.remaining < y.remaining : x.reset_after > y.reset_after;
  if (!x.retry_after || !y.retry_after) return !x.retry_after && y.retry_after;
  return *x.retry_after > *y.retry_after;
}

void order_outcomes(std::vector<LimitOutcome>& outcomes) {
  std::ranges::sort(outcomes, {}, &LimitOutcome::limit);
  const auto binding = std::ranges::min_element(outcomes, binds_before);
  if (binding != outcomes.end()) std::rotate(outcomes.begin(), binding, binding + 1);
}

}  // namespace

std::optional<limit::Ticks> Decision::retry_after() const {
  if (admitted) return 0;
  return outcomes.empty() ? std::nullopt : outcomes.front().outcome.retry_after;
}

void Decider::decide(const policy::Charges& charges, limit::Ticks now, Decision& decision) const {
  decision.admitted = true;
  decision.reached = Reached::kNoLimit;
  decision.outcomes.clear();
  decision.shadow.clear();
  decision.missing = charges.missing_refuses;
  if (charges.missing_refuses != policy::Charges::kNone) {
    decision.admitted = false;
    decision.reached = Reached::kMissing;
    return;
  }
  decision.admitted = enforce(charges, now, decision);
  order_outcomes(decision.outcomes);
  if (decision.admitted) watch(charges, now, decision);
}

// Asks one account; its outcomes are in decision.room afterwards.
bool Decider::acquire(const policy::Charges& charges, const policy::AccountCharges& account, limit::Ticks now,
                      Decision& decision) const {
  decision.room.resize(account.count);
  return store_.acquire(account.kind, account.subject, run_of(charges, account), now, decision.room);
}

bool Decider::enforce(const policy::Charges& charges, limit::Ticks now, Decision& decision) const {
  for (std::size_t at = 0; at < charges.accounts.size(); ++at) {
    const policy::AccountCharges& account = charges.accounts[at];
    if (account.shadow) break;  // they come last
    decision.reached = Reached::kEvaluated;
    const bool admitted = acquire(charges, account, now, decision);
    if (!admitted) decision.outcomes.clear();
    append_outcomes(charges, account, decision.room, decision.outcomes);
    if (admitted) continue;
    give_back(charges, at, now);
    return false;
  }
  return true;
}

// Takes back what the first `accounts` accounts have admitted.
void Decider::give_back(const policy::Charges& charges, std::size_t accounts, limit::Ticks now) const {
  for (std::size_t at = accounts; at-- > 0;) {
    const policy::AccountCharges& account = charges.accounts[at];
    store_.give_back(account.kind, account.subject, run_of(charges, account), now);
  }
}

void Decider::watch(const policy::Charges& charges, limit::Ticks now, Decision& decision) const {
  for (const policy::AccountCharges& account : charges.accounts) {
    if (!account.shadow) continue;
    acquire(charges, account, now, decision);
    append_outcomes(charges, account, decision.room, decision.shadow);
  }
}

}  // namespace weir::decide
