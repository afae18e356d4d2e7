// SPDX-License-Identifier: Apache-2.0
#include "weir/store/memory/step.h"

namespace weir::store {

void Step::run_switched(std::size_t i, const CompiledSlot& slot, Word* state) {
  const Charge& charge = charges_[i];
  // What no bucket holds is refused and changes nothing, but for the repair that a carried state would hide.
  constexpr limit::Cost kTooMuch = limit::TokenBucket::kMaxUnits + 1;
  if (charge.cost > 0) slot.variants[slot.writer(state)].step({state, slot.words}, now_, kTooMuch);
  slot.copy(state, saved_[i]);
  slot.carry(charge.variant, state, now_);
  slot.variants[charge.variant].step({state, slot.words}, now_, charge.cost, outcomes_[i]);
  if (charge.cost == 0) slot.copy(saved_[i], state);
  switched_ |= std::uint64_t{1} << i;
}

void Step::peek(std::size_t i, const CompiledSlot& slot, const Word* state) {
  Word copy[kSlotWords];
  slot.copy(state, copy);
  slot.carry(charges_[i].variant, copy, now_);
  slot.variants[charges_[i].variant].step({copy, slot.words}, now_, 0, outcomes_[i]);
}

}  // namespace weir::store
