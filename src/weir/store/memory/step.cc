// SPDX-License-Identifier: Apache-2.0
#include "weir/store/memory/step.h"

#include "weir/limit/ranges.h"

namespace weir::store {

void Step::decide(const CompiledSlot& slot, std::uint32_t variant, Word* state, limit::Cost cost,
                  limit::Outcome& outcome) {
  const limit::Limit& limit = slot.limit(variant);
  const std::span<Word> words(state, slot.words);
  slot.keeps_entries ? limit.decide(words, call_, cost, outcome) : limit.step(words, call_, cost, outcome);
}

void Step::run_special(std::size_t i, const CompiledSlot& slot, Word* state) {
  const Charge& charge = charges_[i];
  const bool switched = slot.tagged && slot.writer(state) != charge.variant;
  if (switched && charge.cost > 0) {
    // What no limit allows is refused and changes nothing, but for the repair that a carried state would hide.
    constexpr limit::Cost kTooMuch = limit::kMaxUnits + 1;
    limit::Outcome refused;
    decide(slot, slot.writer(state), state, kTooMuch, refused);
  }
  slot.copy(state, saved_[i]);
  if (switched) slot.carry(charge.variant, state, call_);
  decide(slot, charge.variant, state, charge.cost, outcomes_[i]);
  if (charge.cost == 0) slot.copy(saved_[i], state);
  if (switched) switched_ |= std::uint64_t{1} << i;
}

bool Step::keeps_carried(std::size_t i, const CompiledSlot& slot) const {
  const limit::Limit& before = slot.writing(saved_[i]);
  const limit::Cost used = before.capacity() - before.peek({saved_[i], slot.words}, call_).remaining;
  return used <= slot.limit(charges_[i].variant).capacity();
}

std::int64_t Step::commit_entries(std::size_t i, const CompiledSlot& slot, Word* state) const {
  const limit::Limit& limit = slot.limit(charges_[i].variant);
  const std::span<Word> words(state, slot.words);
  const std::uint64_t before = limit.owned_bytes(words);
  limit.commit(words, call_, charges_[i].cost);
  return static_cast<std::int64_t>(limit.owned_bytes(words) - before);
}

void Step::peek(std::size_t i, const CompiledSlot& slot, const Word* state) {
  Word copy[kSlotWords];
  slot.copy(state, copy);
  slot.carry(charges_[i].variant, copy, call_);
  decide(slot, charges_[i].variant, copy, 0, outcomes_[i]);
}

}  // namespace weir::store
