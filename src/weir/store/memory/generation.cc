// SPDX-License-Identifier: Apache-2.0
#include "weir/store/memory/generation.h"

#include <algorithm>
#include <cassert>

namespace weir::store {
namespace {

// Of a record that never needed one. Its windows begin like everybody's until the next call tells where they should.
constexpr std::uint64_t kUnknownPhase = 0;

std::uint8_t words_of(const Slot& slot) {
  int most = slot.book == nullptr ? 1 : slot.book->state_words();
  for (const limit::Limit& variant : slot.variants) most = std::max(most, variant.state_words());
  assert(most < static_cast<int>(kSlotWords));
  return static_cast<std::uint8_t>(most);
}

bool has_jitter(const Slot& slot) {
  if (slot.book != nullptr) return slot.book->jittered();
  return std::ranges::any_of(slot.variants, [](const limit::Limit& variant) { return variant.has_jitter(); });
}

}  // namespace

void CompiledSlot::carry(std::uint32_t variant, Word* slot, const limit::Call& call) const {
  const std::uint32_t by = writer(slot);
  if (by == variant) return;
  Word old[kSlotWords];
  copy(slot, old);
  std::fill_n(slot, words, 0);
  limit(variant).carry(limit(by), {old, words}, {slot, words}, call);
  slot[words] = variant;
}

Generation::Generation(const Layout& layout) : layout_(layout) {
  jittered_ = std::ranges::any_of(layout_.slots, has_jitter);
  record_words_ += jittered_ ? 1 : 0;
  slots_.reserve(layout_.slots.size());
  for (const Slot& slot : layout_.slots) {
    const bool grows = slot.book != nullptr;
    assert(slot.variants.empty() == grows && slot.variants.size() <= 255);
    by_identity_.emplace(slot.identity, static_cast<std::uint16_t>(slots_.size()));
    const bool keeps_entries = grows ? slot.book->keeps_entries() : slot.variants.front().keeps_entries();
    slots_.push_back({.variants = grows ? nullptr : slot.variants.data(),
                      .book = slot.book,
                      .offset = record_words_,
                      .variations = static_cast<std::uint32_t>(slot.variants.size()),
                      .words = words_of(slot),
                      .tagged = grows || slot.variants.size() > 1,
                      .keeps_entries = keeps_entries});
    keeps_entries_ |= keeps_entries;
    record_words_ += slots_.back().words + (slots_.back().tagged ? 1 : 0);
  }
}

std::optional<std::uint16_t> Generation::find(std::string_view identity) const {
  const auto found = by_identity_.find(identity);
  if (found == by_identity_.end()) return std::nullopt;
  return found->second;
}

limit::Call Generation::call_for(const Word* record, const limit::Call& call) const {
  limit::Call own = call;
  own.phase = jittered_ ? static_cast<std::uint64_t>(record[kKeyWords]) : kUnknownPhase;
  return own;
}

void Generation::learn_phase(Word* record, const limit::Call& call) const {
  if (!jittered_) return;
  const limit::Call known = call_for(record, call);
  if (known.phase == call.phase) return;
  record[kKeyWords] = static_cast<Word>(call.phase);
  for (const CompiledSlot& slot : slots_) {
    slot.writing(record + slot.offset).realign(state_of(slot, record), known, call);
  }
}

bool Generation::is_initial(const Word* record, const limit::Call& call) const {
  const auto are_initial = [&](const limit::Call& own) {
    return std::ranges::all_of(slots_, [&](const CompiledSlot& slot) {
      const Word* state = record + slot.offset;
      return slot.writing(state).is_initial({state, slot.words}, own);
    });
  };
  return jittered_ ? are_initial(call_for(record, call)) : are_initial(call);
}

limit::Ticks Generation::reset_after(const Word* record, const limit::Call& call) const {
  const limit::Call own = call_for(record, call);
  limit::Ticks longest = 0;
  for (const CompiledSlot& slot : slots_) {
    const Word* state = record + slot.offset;
    longest = std::max(longest, slot.writing(state).peek({state, slot.words}, own).reset_after);
  }
  return longest;
}

void Generation::convert(const Generation& from, Word* old, Word* fresh, const limit::Call& call) const {
  if (&from == this) {
    std::copy_n(old, record_words_, fresh);
    return;
  }
  std::copy_n(old, kKeyWords, fresh);
  const limit::Call own = from.call_for(old, call);
  if (jittered_) fresh[kKeyWords] = static_cast<Word>(own.phase);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const auto source = from.find(layout_.slots[i].identity);
    if (!source) continue;  // a new limit starts full
    const CompiledSlot& before = from.slot(*source);
    const CompiledSlot& after = slots_[i];
    Word* state = old + before.offset;
    const std::uint32_t writer = before.writer(state);
    const std::uint32_t variant = after.nearest(before, writer);
    Word* target = fresh + after.offset;
    after.limit(variant).carry(before.limit(writer), {state, before.words}, {target, after.words}, own);
    std::fill_n(state, before.words, 0);  // whatever it owned was taken over
    if (after.tagged) target[after.words] = variant;
  }
  from.release(old);
}

void Generation::release(Word* record) const {
  if (!keeps_entries_) return;
  for (const CompiledSlot& slot : slots_) {
    if (slot.keeps_entries) slot.limit(0).release(state_of(slot, record));
  }
}

std::uint64_t Generation::owned_bytes(const Word* record) const {
  if (!keeps_entries_) return 0;
  std::uint64_t total = 0;
  for (const CompiledSlot& slot : slots_) {
    if (slot.keeps_entries) total += slot.limit(0).owned_bytes({record + slot.offset, slot.words});
  }
  return total;
}

}  // namespace weir::store
