// SPDX-License-Identifier: Apache-2.0
//
// Charges to a Decision. Accounts are acquired one after the other, narrowest first; what was taken is given back
// when a later one refuses, so composition may under-admit for an instant and never over-admits. Shadow accounts are
// charged after an admission and can only be reported. Thread safety: stateless, any thread.
#pragma once

#include "weir/decide/decision.h"
#include "weir/limit/outcome.h"
#include "weir/policy/policy.h"
#include "weir/store/memory/memory_store.h"

namespace weir::decide {

class Decider {
 public:
  explicit Decider(store::MemoryStore& store) : store_(store) {}

  // `now`: ticks of the store (nanoseconds since its epoch), read once by the caller.
  void decide(const policy::Charges& charges, limit::Ticks now, Decision& decision) const;

 private:
  bool acquire(const policy::Charges& charges, const policy::AccountCharges& account, limit::Ticks now,
               Decision& decision) const;
  bool enforce(const policy::Charges& charges, limit::Ticks now, Decision& decision) const;
  void give_back(const policy::Charges& charges, std::size_t accounts, limit::Ticks now) const;
  void watch(const policy::Charges& charges, limit::Ticks now, Decision& decision) const;

  store::MemoryStore& store_;
};

}  // namespace weir::decide
