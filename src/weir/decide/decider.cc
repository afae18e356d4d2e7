// SPDX-License-Identifier: Apache-2.0
#include "weir/decide/decider.h"

#include <algorithm>
#include <span>
#include <variant>

#include "weir/decide/asking.h"
#include "weir/decide/order.h"

namespace weir::decide {

// False: it is decided already.
bool Decider::open(const policy::Charges& charges, const limit::Call& call, Decision& decision) {
  decision.clear();
  decision.lease = call.lease;
  decision.decided_at = call.now;
  decision.wall = call.wall;
  decision.missing = charges.missing_refuses;
  decision.reached = charges.unknown ? Reached::kOpen : Reached::kNoLimit;
  const bool lacks = charges.missing_refuses != policy::Charges::kNone;
  if (!lacks && charges.unknown_refuses == policy::Charges::kNone) return true;
  decision.admitted = false;
  decision.reached = lacks ? Reached::kMissing : Reached::kClosed;
  return false;
}

void Decider::decide(const policy::Charges& charges, const limit::Call& call, Decision& decision,
                     Lines::Waiter* waiter) const {
  if (!open(charges, call, decision)) return;
  const Asking asking{charges, call, decision, waiter};
  decision.admitted = enforce(asking);
  order_outcomes(decision.outcomes);
  if (decision.admitted) watch(asking);
}

// Asks one account; its outcomes are in decision.room afterwards.
bool Decider::acquire(const Asking& asking, const policy::AccountCharges& account) const {
  Decision& decision = asking.decision;
  decision.room.resize(account.count);
  const std::span<const store::Charge> charges = run_of(asking.charges, account);
  if (account.phase == 0) return store_.acquire(account.kind, account.subject, charges, asking.call, decision.room);
  return store_.acquire(account.kind, account.subject, charges, call_for(asking.call, account), decision.room);
}

// Charges an account, and stands in its lines.
bool Decider::enter(const Asking& asking, const policy::AccountCharges& account) const {
  const Lines::Lock lock = account.queued ? lines_.lock(account.subject) : Lines::Lock();
  if (!acquire(asking, account)) return false;
  hold(asking, account, asking.waiter);
  return true;
}

bool Decider::enforce(const Asking& asking) const {
  Decision& decision = asking.decision;
  for (std::size_t at = 0; at < asking.charges.accounts.size(); ++at) {
    const policy::AccountCharges& account = asking.charges.accounts[at];
    if (account.shadow) break;  // they come last
    decision.reached = Reached::kEvaluated;
    const bool admitted = enter(asking, account);
    if (!admitted) {
      give_back(asking, at);
      decision.outcomes.clear();
    }
    append_outcomes(asking.charges, account, decision.room, decision.outcomes);
    if (!admitted) return false;
  }
  return true;
}

// Remembers what is still to be done about the charges of an account that has admitted, here or in the shared store.
// Requires: the outcomes are in decision.room, and the lock of the subject is held if the account has lines.
void Decider::hold(const Asking& asking, const policy::AccountCharges& account, Lines::Waiter* waiter,
                   bool shared) const {
  Decision& decision = asking.decision;
  for (std::uint32_t i = 0; i < account.count; ++i) {
    const policy::ChargedLimit& charged = asking.charges.limits[account.first + i];
    if (charged.info == nullptr) continue;
    const limit::Outcome& outcome = decision.room[i];
    Held& held = decision.held.emplace_back(Held{.kind = account.kind,
                                                 .subject = account.subject,
                                                 .shared = nullptr,
                                                 .name = {},
                                                 .phase = account.phase,
                                                 .charge = asking.charges.charges[account.first + i],
                                                 .limit = charged.limit,
                                                 .shadow = account.shadow,
                                                 .info = charged.info,
                                                 .taken = asking.charges.charges[account.first + i].cost,
                                                 .at = outcome.at,
                                                 .starts_at = asking.call.now + outcome.delay,
                                                 .empty_at = outcome.at + outcome.reset_after,
                                                 .place = nullptr});
    if (shared) {
      held.shared = *account.shared;
      held.name = asking.charges.name_of(account);
    }
    const auto* line = std::get_if<limit::LeakyBucket>(&held.rule().algorithm());
    if (line != nullptr && waiter != nullptr) {
      const Lines::Arrival arrival{asking.call.now, held.starts_at, line->interval()};
      held.place = lines_.join({account.subject, store_.counter_of(account.kind, held.charge.slot)},
                               {account.kind, held.charge.slot}, arrival, *waiter);
    }
    if (const auto* leases = std::get_if<limit::Concurrency>(&held.rule().algorithm())) {
      const limit::Ticks third = leases->numbers().lease / 3;
      decision.renewal = decision.renewal == 0 ? third : std::min(decision.renewal, third);
    }
  }
}

// Takes back what the first `accounts` accounts have admitted. Requires: decision.outcomes are theirs, in order.
void Decider::give_back(const Asking& asking, std::size_t accounts) const {
  Decision& decision = asking.decision;
  std::vector<store::Adjustment> adjustments;
  for (std::size_t at = accounts; at-- > 0;) {
    const policy::AccountCharges& account = asking.charges.accounts[at];
    adjustments.clear();
    for (std::uint32_t i = account.first; i < account.first + account.count; ++i) {
      const store::Charge& charge = asking.charges.charges[i];
      if (stands_in_line(asking.charges.limits[i])) continue;
      adjustments.push_back({charge.slot, charge.variant, -charge.cost, decision.outcomes[i].outcome.at});
    }
    store_.adjust(account.kind, account.subject, adjustments, call_for(asking.call, account));
  }
  for (const Held& held : decision.held) leave(held, asking.call);
  decision.held.clear();
  decision.renewal = 0;
}

// Each shadow limit by itself: it says what it would have done, whatever others would have done.
void Decider::watch(const Asking& asking) const {
  for (const policy::AccountCharges& account : asking.charges.accounts) {
    if (!account.shadow) continue;
    policy::AccountCharges one = account;
    one.count = 1;
    for (; one.first < account.first + account.count; ++one.first) {
      if (acquire(asking, one)) hold(asking, one, nullptr);
      append_outcomes(asking.charges, one, asking.decision.room, asking.decision.shadow);
    }
  }
}

}  // namespace weir::decide
