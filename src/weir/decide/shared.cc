// SPDX-License-Identifier: Apache-2.0
//
// Decider's way to a store that all gateways share: the same order of things, with a wait for every account, and with
// what is done when no answer comes.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "weir/decide/asking.h"
#include "weir/decide/decider.h"
#include "weir/decide/order.h"

namespace weir::decide {

using store::Asked;

namespace {

store::RedisStore::Account shared_account(const policy::Charges& charges, const policy::AccountCharges& account) {
  return {**account.shared, charges.name_of(account)};
}

}  // namespace

bool Decider::decide_at_once(const policy::Charges& charges, const limit::Call& call, Decision& decision) const {
  if (charges.missing_refuses != policy::Charges::kNone) return false;
  const Asking asking{charges, call, decision, nullptr};
  std::array<store::Bundles::Bundle*, 8> ahead{};
  std::size_t found = 0;  // of the first accounts
  for (std::size_t i = 0; i < charges.accounts.size(); ++i) {
    const policy::AccountCharges& account = charges.accounts[i];
    if (account.shadow) return false;  // it is asked in any case
    if (found == i && i < ahead.size()) {
      ahead[i] = shared_->store.find_ahead(shared_account(charges, account), run_of(charges, account));
      if (ahead[i] != nullptr) ++found;
    }
    if (found <= i && recall(asking, account)) return true;
  }
  if (found < charges.accounts.size()) return false;
  open(charges, call, decision);
  decision.reached = Reached::kAhead;
  for (std::size_t i = 0; i < found; ++i) {
    const policy::AccountCharges& account = charges.accounts[i];
    decision.room.resize(account.count);
    shared_->store.spend_ahead(*ahead[i], decision.room);
    append_outcomes(charges, account, decision.room, decision.outcomes);
    hold(asking, account, nullptr, /*shared=*/true);
  }
  order_outcomes(decision.outcomes);
  return true;
}

// Whether the account is known to refuse still.
bool Decider::recall(const Asking& asking, const policy::AccountCharges& account) const {
  const policy::Charges& charges = asking.charges;
  Decision& decision = asking.decision;
  decision.room.resize(account.count);
  const store::RedisStore::Account asked = shared_account(charges, account);
  if (!shared_->store.recall(asked, run_of(charges, account), asking.call, decision.room)) return false;
  open(charges, asking.call, decision);
  decision.admitted = false;
  decision.reached = Reached::kRemembered;
  append_outcomes(charges, account, decision.room, decision.outcomes);
  order_outcomes(decision.outcomes);
  return true;
}

io::Task<void> Decider::decide_shared(const policy::Charges& charges, const limit::Call& call,
                                      Decision& decision) const {
  if (!open(charges, call, decision)) co_return;
  const Asking asking{charges, call, decision, nullptr};
  const Instant until = shared_->store.deadline();
  std::vector<Taken> taken;
  for (const policy::AccountCharges& account : charges.accounts) {
    if (account.shadow || !decision.admitted) break;
    if (decision.reached == Reached::kNoLimit) decision.reached = Reached::kEvaluated;
    decision.room.resize(account.count);
    const store::RedisStore::Account asked_about = shared_account(charges, account);
    const limit::Call own = call_for(call, account);
    const Asked asked =
        co_await shared_->store.acquire(asked_about, run_of(charges, account), own, decision.room, until);
    if (asked == Asked::kFailed) end_unknown(asking, account);
    decision.admitted = asked == Asked::kFailed ? fall_back(asking, account, taken)
                                                : take_in(asking, account, asked == Asked::kAdmitted, taken);
  }
  if (!decision.admitted) give_back(asking, taken);
  order_outcomes(decision.outcomes);
  if (decision.admitted) co_await watch_shared(asking, until);
}

// What the shared store has said about an account.
bool Decider::take_in(const Asking& asking, const policy::AccountCharges& account, bool admitted,
                      std::vector<Taken>& taken) const {
  Decision& decision = asking.decision;
  if (!admitted) decision.outcomes.clear();
  append_outcomes(asking.charges, account, decision.room, decision.outcomes);
  if (!admitted) return false;
  Taken& one = taken.emplace_back(Taken{&account, true, {}});
  for (std::uint32_t i = 0; i < account.count; ++i) {
    const store::Charge& charge = asking.charges.charges[account.first + i];
    if (stands_in_line(asking.charges.limits[account.first + i])) continue;
    one.adjustments.push_back({charge.slot, charge.variant, -charge.cost, decision.room[i].at});
  }
  hold(asking, account, nullptr, /*shared=*/true);
  return true;
}

// The shared store has not answered, but it may do later what it was asked. Nobody would end the leases that it then
// gives.
void Decider::end_unknown(const Asking& asking, const policy::AccountCharges& account) const {
  std::vector<store::Adjustment> ends;
  for (std::uint32_t i = account.first; i < account.first + account.count; ++i) {
    const store::Charge& charge = asking.charges.charges[i];
    const policy::LimitInfo* info = asking.charges.limits[i].info;
    if (info == nullptr || !info->variant(charge.variant).holds<limit::Concurrency>()) continue;
    ends.push_back({charge.slot, charge.variant, -charge.cost, 0});
  }
  if (ends.empty()) return;
  amend(*account.shared, std::string(asking.charges.name_of(account)), std::move(ends),
        call_for(asking.call, account));
}

// The shared store has not answered: what the limits say about that.
bool Decider::fall_back(const Asking& asking, const policy::AccountCharges& account,
                        std::vector<Taken>& taken) const {
  using config::StoreFailure;
  Decision& decision = asking.decision;
  const auto limits = std::span(asking.charges.limits).subspan(account.first, account.count);
  const auto any = [&](StoreFailure failure) {
    return std::ranges::any_of(limits, [&](const auto& one) { return one.on_store_failure == failure; });
  };
  const auto reach = [&](Reached reached) { decision.reached = std::max(decision.reached, reached); };
  if (any(StoreFailure::kClosed)) {
    reach(Reached::kClosed);
    decision.outcomes.clear();
    return false;
  }
  if (!any(StoreFailure::kLocal)) {
    reach(Reached::kOpen);
    return true;
  }
  reach(Reached::kLocal);
  policy::Charges own;  // of these limits only
  for (std::uint32_t i = 0; i < account.count; ++i) {
    if (limits[i].on_store_failure != StoreFailure::kLocal) continue;
    own.charges.push_back(asking.charges.charges[account.first + i]);
    own.limits.push_back(limits[i]);
  }
  own.accounts.push_back(account);
  own.accounts.front().first = 0;
  own.accounts.front().count = static_cast<std::uint32_t>(own.charges.size());
  const Asking local{own, asking.call, decision, nullptr};
  const policy::AccountCharges& asked = own.accounts.front();
  const bool admitted = acquire(local, asked);
  if (!admitted) decision.outcomes.clear();
  append_outcomes(own, asked, decision.room, decision.outcomes);
  if (!admitted) return false;
  Taken& one = taken.emplace_back(Taken{&account, false, {}});
  for (std::uint32_t i = 0; i < asked.count; ++i) {
    const store::Charge& charge = own.charges[i];
    one.adjustments.push_back({charge.slot, charge.variant, -charge.cost, decision.room[i].at});
  }
  hold(local, asked, nullptr);
  return true;
}

// Nobody waits for it: what is under way reaches the store before anything that this gateway asks later.
void Decider::give_back(const Asking& asking, const std::vector<Taken>& taken) const {
  for (const Taken& one : taken) {
    const policy::AccountCharges& account = *one.account;
    const limit::Call call = call_for(asking.call, account);
    if (one.shared) {
      amend(*account.shared, std::string(asking.charges.name_of(account)), one.adjustments, call);
    } else {
      store_.adjust(account.kind, account.subject, one.adjustments, call);
    }
  }
  for (const Held& held : asking.decision.held) leave(held, asking.call);
  asking.decision.held.clear();
  asking.decision.renewal = 0;
}

struct Decider::Watched {
  policy::AccountCharges account;  // with one charge
  store::Asked asked = store::Asked::kFailed;
  std::vector<limit::Outcome> outcomes = std::vector<limit::Outcome>(1);
};

io::Detached Decider::watch_one(const Asking& asking, Watched& watched, Instant until, io::Latch& all) const {
  const policy::AccountCharges& account = watched.account;
  const store::RedisStore::Account asked_about = shared_account(asking.charges, account);
  const limit::Call own = call_for(asking.call, account);
  const std::span<const store::Charge> charges = run_of(asking.charges, account);
  watched.asked = co_await shared_->store.acquire(asked_about, charges, own, watched.outcomes, until);
  all.count_down();
}

// Each shadow limit by itself, as in Decider::watch, and all of them at the same time.
io::Task<void> Decider::watch_shared(const Asking& asking, Instant until) const {
  std::vector<Watched> watched;
  for (const policy::AccountCharges& account : asking.charges.accounts) {
    for (std::uint32_t i = 0; account.shadow && i < account.count; ++i) {
      Watched& one = watched.emplace_back(Watched{.account = account});
      one.account.first += i;
      one.account.count = 1;
    }
  }
  io::Latch all(watched.size());
  for (Watched& one : watched) watch_one(asking, one, until, all);
  co_await all;
  for (Watched& one : watched) {
    if (one.asked == Asked::kFailed) {
      end_unknown(asking, one.account);
      continue;
    }
    asking.decision.room = std::move(one.outcomes);
    if (one.asked == Asked::kAdmitted) hold(asking, one.account, nullptr, /*shared=*/true);
    append_outcomes(asking.charges, one.account, asking.decision.room, asking.decision.shadow);
  }
}

io::Detached Decider::amend(std::shared_ptr<const store::RedisKind> kind, std::string name,
                            std::vector<store::Adjustment> adjustments, limit::Call call) const {
  const store::RedisStore::Account account{*kind, name};
  const bool done = co_await shared_->store.adjust(account, adjustments, call, {});
  if (!done) shared_->lost_amendments.add();
}

io::Detached Decider::renew_shared(std::shared_ptr<const store::RedisKind> kind, std::string name,
                                   store::Charge charge, limit::Call call) const {
  const store::RedisStore::Account account{*kind, name};
  const std::span<const store::Charge> charges(&charge, 1);
  const std::optional<bool> alive = co_await shared_->store.renew(account, charges, call);
  if (!alive) shared_->lost_amendments.add();
  if (alive && !*alive) shared_->lost_leases.add();
}

}  // namespace weir::decide
