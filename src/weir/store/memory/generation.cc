// SPDX-License-Identifier: Apache-2.0
#include "weir/store/memory/generation.h"

#include <algorithm>
#include <cassert>

namespace weir::store {
namespace {

std::uint8_t words_of(const Slot& slot) {
  int most = 1;
  for (const limit::Limit& variant : slot.variants) most = std::max(most, variant.state_words());
  assert(most < static_cast<int>(kSlotWords));
  return static_cast<std::uint8_t>(most);
}

}  // namespace

void CompiledSlot::carry(std::uint8_t variant, Word* slot, limit::Ticks now) const {
  const std::uint8_t by = writer(slot);
  if (by == variant) return;
  Word old[kSlotWords];
  copy(slot, old);
  std::fill_n(slot, words, 0);
  variants[variant].carry(variants[by], {old, words}, {slot, words}, now);
  slot[words] = variant;
}

Generation::Generation(const Layout& layout) : layout_(layout) {
  slots_.reserve(layout_.slots.size());
  for (const Slot& slot : layout_.slots) {
    assert(!slot.variants.empty() && slot.variants.size() <= 255);
    by_identity_.emplace(slot.identity, static_cast<std::uint16_t>(slots_.size()));
    const auto variations = static_cast<std::uint8_t>(slot.variants.size());
    slots_.push_back({slot.variants.data(), record_words_, words_of(slot), variations, variations > 1});
    record_words_ += slots_.back().words + (variations > 1 ? 1 : 0);
  }
}

std::optional<std::uint16_t> Generation::find(std::string_view identity) const {
  const auto found = by_identity_.find(identity);
  if (found == by_identity_.end()) return std::nullopt;
  return found->second;
}

bool Generation::is_initial(const Word* record, limit::Ticks now) const {
  return std::ranges::all_of(slots_, [&](const CompiledSlot& slot) {
    const Word* state = record + slot.offset;
    return slot.variants[slot.writer(state)].is_initial({state, slot.words}, now);
  });
}

limit::Ticks Generation::reset_after(const Word* record, limit::Ticks now) const {
  limit::Ticks longest = 0;
  for (const CompiledSlot& slot : slots_) {
    Word state[kSlotWords];
    slot.copy(record + slot.offset, state);
    const limit::Outcome peeked = slot.variants[slot.writer(state)].step({state, slot.words}, now, 0);
    longest = std::max(longest, peeked.reset_after);
  }
  return longest;
}

void Generation::convert(const Generation& from, const Word* old, Word* fresh, limit::Ticks now) const {
  if (&from == this) {
    std::copy_n(old, record_words_, fresh);
    return;
  }
  std::copy_n(old, kKeyWords, fresh);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const auto source = from.find(layout_.slots[i].identity);
    if (!source) continue;  // a new limit starts full
    const CompiledSlot& before = from.slot(*source);
    const CompiledSlot& after = slots_[i];
    const Word* state = old + before.offset;
    const std::uint8_t writer = before.writer(state);
    const auto variant = std::min<std::uint8_t>(writer, after.variations - 1);
    Word* target = fresh + after.offset;
    after.variants[variant].carry(before.variants[writer], {state, before.words}, {target, after.words}, now);
    if (after.tagged) target[after.words] = variant;
  }
}

}  // namespace weir::store
