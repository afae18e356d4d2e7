// SPDX-License-Identifier: Apache-2.0
//
// A layout, compiled: where each slot's words are in a record. A record is an array of 64-bit words: two of
// fingerprint, then per slot the words of state and, where a slot has several variants, one word that says which
// variant wrote it (a switch of variant carries the used amount). All words of state zero: never used.
// Thread safety: immutable.
#pragma once

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

constexpr std::uint32_t kKeyWords = 2;   // of a record: the fingerprint
constexpr std::uint32_t kSlotWords = 3;  // the most that a slot needs: two of state, the writer

// How the words of one slot are to be read.
struct CompiledSlot {
  const limit::Limit* variants;
  std::uint32_t offset;     // words from the beginning of the record
  std::uint8_t words;       // of state: the most that one of the variants needs
  std::uint8_t variations;  // number of variants
  bool tagged;              // the word after the state names the variant that wrote it

  std::uint8_t writer(const Word* slot) const {
    return tagged ? static_cast<std::uint8_t>(slot[words]) : std::uint8_t{0};
  }
  void copy(const Word* from, Word* to) const {
    to[0] = from[0];
    for (std::uint8_t i = 1; i < words + tagged; ++i) to[i] = from[i];
  }
  // Makes the slot one of `variant`.
  void carry(std::uint8_t variant, Word* slot, limit::Ticks now) const;
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

  // True when every slot equals "never used", so that the record may be dropped.
  bool is_initial(const Word* record, limit::Ticks now) const;
  // Ticks until is_initial.
  limit::Ticks reset_after(const Word* record, limit::Ticks now) const;

  // Makes `fresh` (zeroed, of this generation) carry on what `old` (of generation `from`) has counted.
  void convert(const Generation& from, const Word* old, Word* fresh, limit::Ticks now) const;

 private:
  Layout layout_;
  std::vector<CompiledSlot> slots_;
  std::unordered_map<std::string_view, std::uint16_t> by_identity_;  // of layout_
  std::uint32_t record_words_ = kKeyWords;
};

}  // namespace weir::store
