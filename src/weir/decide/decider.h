// SPDX-License-Identifier: Apache-2.0
//
// Charges to a Decision, and what remains to be done about an admitted one. Accounts are acquired one after the
// other, narrowest first, those with lines and leases last; what was taken is given back when a later one refuses, so
// composition may under-admit for an instant and never over-admits. Shadow accounts are charged after an admission
// and can only be reported.
//
// With a shared store (store/redis) accounts are asked there, which takes time: decide_shared. When it does not
// answer, `on_store_failure` of each limit decides, and what one gateway may admit by itself is counted in memory.
// Everything else about a shared charge is sent off without waiting for the answer.
//
// Of every call here only the clocks matter, and of decide's also the lease, which must be new for each request.
// Thread safety: without a shared store any thread, else its loop's; a Decision belongs to one thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weir/base/counter.h"
#include "weir/decide/decision.h"
#include "weir/decide/lines.h"
#include "weir/io/latch.h"
#include "weir/io/task.h"
#include "weir/limit/outcome.h"
#include "weir/policy/policy.h"
#include "weir/store/memory/memory_store.h"
#include "weir/store/redis/redis_store.h"

namespace weir::decide {

// What is known of an answer. `field`: the value of a field of this name; not called unless a limit wants to know.
struct Answer {
  int status = 0;
  std::function<std::optional<std::string_view>(std::string_view name)> field;
};

class Decider {
 public:
  // An estimate that was not settled within this time stays charged.
  static constexpr limit::Ticks kSettleWithin = limit::Ticks{3600} * 1'000'000'000;

  // The store that all gateways share. What goes wrong after a decision is only counted.
  struct Shared {
    store::RedisStore& store;
    OwnedCounter lost_leases = {};      // that had run out when they were to be renewed
    OwnedCounter lost_amendments = {};  // settlements, give-backs and renewals of which no answer came
  };

  Decider(store::MemoryStore& store, Lines& lines, Shared* shared = nullptr)
      : store_(store), lines_(lines), shared_(shared) {}

  // `waiter`: who stands in line if the decision says so, and is told when the line moves up; must outlive that.
  // Without one nobody moves up.
  void decide(const policy::Charges& charges, const limit::Call& call, Decision& decision,
              Lines::Waiter* waiter = nullptr) const;

  // The decision about charges that are shared, if nobody need be asked: an account is known to refuse still, or all
  // that is charged was taken in advance. False: decide_shared has to.
  bool decide_at_once(const policy::Charges& charges, const limit::Call& call, Decision& decision) const;
  // The decision about charges that are shared. Whatever is given outlives the task.
  io::Task<void> decide_shared(const policy::Charges& charges, const limit::Call& call, Decision& decision) const;

  // The request starts: it stands in no line any more, and outcomes say what is left now.
  void start(Decision& decision, const limit::Call& call) const;
  // The client left before the request started: those behind it move up.
  void leave(Decision& decision, const limit::Call& call) const;
  // After other limits were put in force: nobody in a line waits longer than by the new ones.
  void reschedule(const limit::Call& call) const;
  // The answer is known: charges become what they are in truth, and outcomes say what is left then. False, and
  // without effect, when it is too late, and the second time (unless decision.settled was taken back, because the
  // client gets another answer after all).
  bool settle(Decision& decision, const Answer& answer, const limit::Call& call) const;
  // To be called every decision.renewal ticks. False when a lease had ended, as far as is known at once.
  bool renew(const Decision& decision, const limit::Call& call) const;
  // The request is over, however it went: it runs no more.
  void finish(Decision& decision, const limit::Call& call) const;

 private:
  struct Asking;
  struct Taken;
  struct Watched;
  static bool open(const policy::Charges& charges, const limit::Call& call, Decision& decision);
  bool acquire(const Asking& asking, const policy::AccountCharges& account) const;
  bool enter(const Asking& asking, const policy::AccountCharges& account) const;
  bool enforce(const Asking& asking) const;
  void hold(const Asking& asking, const policy::AccountCharges& account, Lines::Waiter* waiter,
            bool shared = false) const;
  void give_back(const Asking& asking, std::size_t accounts) const;
  void watch(const Asking& asking) const;
  void leave(const Held& held, const limit::Call& call) const;
  void change(const Held& held, limit::Cost by, const limit::Call& call, std::span<limit::Outcome> after = {}) const;

  // decide/shared.cc
  bool recall(const Asking& asking, const policy::AccountCharges& account) const;
  bool take_in(const Asking& asking, const policy::AccountCharges& account, bool admitted,
               std::vector<Taken>& taken) const;
  void end_unknown(const Asking& asking, const policy::AccountCharges& account) const;
  bool fall_back(const Asking& asking, const policy::AccountCharges& account, std::vector<Taken>& taken) const;
  void give_back(const Asking& asking, const std::vector<Taken>& taken) const;
  io::Detached watch_one(const Asking& asking, Watched& watched, Instant until, io::Latch& all) const;
  io::Task<void> watch_shared(const Asking& asking, Instant until) const;
  io::Detached amend(std::shared_ptr<const store::RedisKind> kind, std::string name,
                     std::vector<store::Adjustment> adjustments, limit::Call call) const;
  io::Detached renew_shared(std::shared_ptr<const store::RedisKind> kind, std::string name, store::Charge charge,
                            limit::Call call) const;

  store::MemoryStore& store_;
  Lines& lines_;
  Shared* shared_;
};

}  // namespace weir::decide
