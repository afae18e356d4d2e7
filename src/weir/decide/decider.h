// SPDX-License-Identifier: Apache-2.0
//
// Charges to a Decision, and what remains to be done about an admitted one. Accounts are acquired one after the
// other, narrowest first, those with lines and leases last; what was taken is given back when a later one refuses, so
// composition may under-admit for an instant and never over-admits. Shadow accounts are charged after an admission
// and can only be reported.
//
// Of every call here only the clocks matter, and of decide's also the lease, which must be new for each request.
// Thread safety: stateless, any thread; a Decision belongs to one thread.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "weir/decide/decision.h"
#include "weir/decide/lines.h"
#include "weir/limit/outcome.h"
#include "weir/policy/policy.h"
#include "weir/store/memory/memory_store.h"

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

  Decider(store::MemoryStore& store, Lines& lines) : store_(store), lines_(lines) {}

  // `waiter`: who stands in line if the decision says so, and is told when the line moves up; must outlive that.
  // Without one nobody moves up.
  void decide(const policy::Charges& charges, const limit::Call& call, Decision& decision,
              Lines::Waiter* waiter = nullptr) const;

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
  // To be called every decision.renewal ticks. False when a lease had ended.
  bool renew(const Decision& decision, const limit::Call& call) const;
  // The request is over, however it went: it runs no more.
  void finish(Decision& decision, const limit::Call& call) const;

 private:
  struct Asking;
  bool acquire(const Asking& asking, const policy::AccountCharges& account) const;
  bool enter(const Asking& asking, const policy::AccountCharges& account) const;
  bool enforce(const Asking& asking) const;
  void hold(const Asking& asking, const policy::AccountCharges& account, Lines::Waiter* waiter) const;
  void give_back(const Asking& asking, std::size_t accounts) const;
  void watch(const Asking& asking) const;
  void leave(const Held& held, const limit::Call& call) const;
  void change(const Held& held, limit::Cost by, const limit::Call& call, std::span<limit::Outcome> after = {}) const;

  store::MemoryStore& store_;
  Lines& lines_;
};

}  // namespace weir::decide
