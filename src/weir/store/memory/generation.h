// SPDX-License-Identifier: Apache-2.0
//
// A layout, compiled: where each slot's words are in a record. A record is an array of 64-bit words: two of
// fingerprint, the subject's phase if a limit has jitter, then per slot the words of state and, where a slot has
// several variants, one word that says which variant wrote it (a switch of variant carries the used amount). All
// words of state zero: never used. What the state of a slot owns (limit/entries.h) belongs to the record. Thread
// safety: immutable.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "weir/limit/limit.h"
#include "weir/store/account.h"

namespace weir::store {

using Word = std::int64_t;

constexpr std::uint32_t kKeyWords = 2;                                  // of a record: the fingerprint
constexpr std::uint32_t kSlotWords = limit::Limit::kMaxStateWords + 1;  // the most that a slot needs, writer included

// How the words of one slot are to be read.
struct CompiledSlot {
  const limit::Limit* variants;  // null: in the book
  const LimitBook* book;
  std::uint32_t offset;      // words from the beginning of the record
  std::uint32_t variations;  // number of variants; of a book, none
  std::uint8_t words;        // of state: the most that one of the variants needs
  bool tagged;               // the word after the state names the variant that wrote it
  bool keeps_entries;        // the state owns memory; its variants decide and commit in two halves

  const limit::Limit& limit(std::uint32_t variant) const {
    return variants != nullptr ? variants[variant] : (*book)[variant];
  }
  std::uint32_t writer(const Word* slot) const { return tagged ? static_cast<std::uint32_t>(slot[words]) : 0; }
  void copy(const Word* from, Word* to) const {
    to[0] = from[0];
    for (std::uint8_t i = 1; i < words + tagged; ++i) to[i] = from[i];
  }
  // A variant of the same slot in another generation as one of this: the last one for those that are gone.
  std::uint32_t nearest(const CompiledSlot& from, std::uint32_t variant) const {
    if (book != nullptr) return from.book == book ? variant : 0;
    return std::min(variant, variations - 1);
  }
  const limit::Limit& writing(const Word* slot) const { return limit(writer(slot)); }
  // Makes the slot one of `variant`.
  void carry(std::uint32_t variant, Word* slot, const limit::Call& call) const;
};

class Generation {
 public:
  explicit Generation(const Layout& layout);
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;

  const Layout& layout() const { return layout_; }
  const CompiledSlot& slot(std::size_t index) const { return slots_[index]; }
  std::uint32_t record_words() const { return record_words_; }
  std::optional<std::uint16_t> find(std::string_view identity) const;

  // Records need more than their words: a phase to be kept, or memory that their slots own.
  bool is_special() const { return jittered_ || keeps_entries_; }
  // The phase of the call is the subject's: what was counted without it moves to where its windows begin.
  void learn_phase(Word* record, const limit::Call& call) const;

  // Of the four below, only the clocks of `call` matter.

  // True when every slot equals "never used", so that the record may be dropped.
  bool is_initial(const Word* record, const limit::Call& call) const;
  // Ticks until is_initial.
  limit::Ticks reset_after(const Word* record, const limit::Call& call) const;
  // Makes `fresh` (zeroed, of this generation) carry on what `old` (of generation `from`) has counted. `old` must not
  // be used any more.
  void convert(const Generation& from, Word* old, Word* fresh, const limit::Call& call) const;

  // Gives back what the slots of a record own; the record must not be used any more.
  void release(Word* record) const;
  std::uint64_t owned_bytes(const Word* record) const;

 private:
  limit::Call call_for(const Word* record, const limit::Call& call) const;
  std::span<Word> state_of(const CompiledSlot& slot, Word* record) const {
    return {record + slot.offset, slot.words};
  }

  Layout layout_;
  std::vector<CompiledSlot> slots_;
  std::unordered_map<std::string_view, std::uint16_t> by_identity_;  // of layout_
  bool jittered_ = false;
  bool keeps_entries_ = false;
  std::uint32_t record_words_ = kKeyWords;
};

}  // namespace weir::store
