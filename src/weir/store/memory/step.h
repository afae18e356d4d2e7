// SPDX-License-Identifier: Apache-2.0
//
// One call of acquire on one record: every charge is stepped in place, and what was there before is put back when one
// of them refuses. Whoever holds the lock of the record sees all of it or nothing.
// Thread safety: used under the record's lock.
#pragma once

#include <cstdint>
#include <span>

#include "weir/limit/outcome.h"
#include "weir/store/account.h"
#include "weir/store/memory/generation.h"

namespace weir::store {

constexpr std::size_t kMaxCharges = 64;

class Step {
 public:
  // `outcomes` has a place for every charge.
  Step(const Generation& generation, std::span<const Charge> charges, limit::Ticks now, limit::Outcome* outcomes)
      : generation_(generation), charges_(charges), now_(now), outcomes_(outcomes) {}

  // Steps all charges and returns whether all are admitted; if not, undo must follow. `place(i, slot)` says where the
  // words of a charge's slot are.
  template <class Place>
  [[gnu::always_inline]] bool run(Place place) {
    bool admitted = true;
    const std::size_t size = charges_.size();
    const Charge* const charges = charges_.data();
    limit::Outcome* const outcomes = outcomes_;
    for (std::size_t i = 0; i < size; ++i) {
      const Charge& charge = charges[i];
      const CompiledSlot& slot = generation_.slot(charge.slot);
      Word* state = place(i, slot);
      if (slot.tagged && slot.writer(state) != charge.variant) [[unlikely]] {
        run_switched(i, slot, state);
      } else {
        slot.copy(state, saved_[i]);
        slot.variants[charge.variant].step({state, slot.words}, now_, charge.cost, outcomes[i]);
      }
      admitted &= outcomes[i].admitted;
    }
    return admitted;
  }

  // After a refusal: all slots are as they were, but for those that repaired themselves after a jump of the clock.
  // Limits that would have admitted show their unchanged state.
  template <class Place>
  [[gnu::noinline]] void undo(Place place) {
    for (std::size_t i = 0; i < charges_.size(); ++i) {
      if (charges_[i].cost == 0) continue;
      const CompiledSlot& slot = generation_.slot(charges_[i].slot);
      Word* state = place(i, slot);
      if (outcomes_[i].admitted) {
        slot.copy(saved_[i], state);
        peek(i, slot, state);
      } else if ((switched_ >> i & 1) != 0) {
        slot.copy(saved_[i], state);
      }
    }
  }

 private:
  // The slot was written by another variant: carries it, for a peek only in passing.
  void run_switched(std::size_t i, const CompiledSlot& slot, Word* state);
  void peek(std::size_t i, const CompiledSlot& slot, const Word* state);

  const Generation& generation_;
  const std::span<const Charge> charges_;
  const limit::Ticks now_;
  limit::Outcome* const outcomes_;
  std::uint64_t switched_ = 0;  // a bit per charge
  Word saved_[kMaxCharges][kSlotWords];
};

}  // namespace weir::store
