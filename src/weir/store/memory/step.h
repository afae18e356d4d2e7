// SPDX-License-Identifier: Apache-2.0
//
// One call of acquire on one record: every charge is stepped in place, and what was there before is put back when one
// of them refuses; limits that keep entries only decide, and are committed when all have admitted. Whoever holds the
// lock of the record sees all of it or nothing.
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
  // `outcomes` has a place for every charge. Whatever is given must outlive the step.
  Step(const Generation& generation, std::span<const Charge> charges, const limit::Call& call,
       limit::Outcome* outcomes)
      : generation_(generation), charges_(charges), call_(call), outcomes_(outcomes) {}

  // Steps all charges and returns whether all are admitted; if so, commit must follow where the generation is
  // special, if not, undo. `place(i, slot)` says where the words of a charge's slot are.
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
      if (slot.keeps_entries || (slot.tagged && slot.writer(state) != charge.variant)) [[unlikely]] {
        run_special(i, slot, state);
      } else {
        // The last one is never put back when all before it have admitted: if it refuses, it changes nothing.
        if (i + 1 < size || !admitted) slot.copy(state, saved_[i]);
        slot.limit(charge.variant).step({state, slot.words}, call_, charge.cost, outcomes[i]);
      }
      admitted &= outcomes[i].admitted;
    }
    return admitted;
  }

  // After an admission: writes what only was decided. Returns by how many bytes the memory grew that the slots own.
  template <class Place>
  std::int64_t commit(Place place) const {
    std::int64_t grown = 0;
    for (std::size_t i = 0; i < charges_.size(); ++i) {
      const CompiledSlot& slot = generation_.slot(charges_[i].slot);
      if (slot.keeps_entries && charges_[i].cost > 0) grown += commit_entries(i, slot, place(i, slot));
    }
    return grown;
  }

  // After a refusal: all slots are as they were, but for those that repaired themselves after a jump of the clock,
  // and for a limit that refuses in another variant than the one that wrote: from then on it refills at its own rate,
  // so that the wait it asks for is true. Limits that would have admitted show their unchanged state.
  template <class Place>
  [[gnu::noinline]] void undo(Place place) {
    for (std::size_t i = 0; i < charges_.size(); ++i) {
      if (charges_[i].cost == 0) continue;
      const CompiledSlot& slot = generation_.slot(charges_[i].slot);
      Word* state = place(i, slot);
      if (outcomes_[i].admitted) {
        slot.copy(saved_[i], state);
        peek(i, slot, state);
      } else if ((switched_ >> i & 1) != 0 && !keeps_carried(i, slot)) {
        slot.copy(saved_[i], state);
      }
    }
  }

 private:
  // The slot keeps entries, or was written by another variant: then it is carried, for a peek only in passing.
  void run_special(std::size_t i, const CompiledSlot& slot, Word* state);
  // Whether a carried state says no less than the one before: unless the smaller capacity has cut what was used.
  bool keeps_carried(std::size_t i, const CompiledSlot& slot) const;
  std::int64_t commit_entries(std::size_t i, const CompiledSlot& slot, Word* state) const;
  void peek(std::size_t i, const CompiledSlot& slot, const Word* state);
  // A step, or of a limit that keeps entries the first half of one.
  void decide(const CompiledSlot& slot, std::uint32_t variant, Word* state, limit::Cost cost,
              limit::Outcome& outcome);

  const Generation& generation_;
  const std::span<const Charge> charges_;
  const limit::Call& call_;
  limit::Outcome* const outcomes_;
  std::uint64_t switched_ = 0;  // a bit per charge
  Word saved_[kMaxCharges][kSlotWords];
};

}  // namespace weir::store
