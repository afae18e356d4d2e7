// SPDX-License-Identifier: Apache-2.0
//
// Limits that become known while a program runs, numbered in the order in which they were added: the variants of a
// slot whose numbers come from outside (store/account.h). All are of one sort, so that one layout of a record holds
// whichever of them counts. Nothing is ever removed or moved: a number and a reference stay valid as long as the
// book. Thread safety: `add` by one thread at a time; a limit that was added may be read by any thread meanwhile.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "weir/limit/limit.h"

namespace weir::store {

class LimitBook {
 public:
  static constexpr std::uint32_t kMost = std::uint32_t{1} << 20;

  // The first limit, number 0, is the sort: whether there is jitter, and whether a request holds something (a line, a
  // place, an entry of a log): then all have its algorithm.
  explicit LimitBook(const limit::Limit& first);
  LimitBook(const LimitBook&) = delete;
  LimitBook& operator=(const LimitBook&) = delete;

  // The limit's number; absent: the book is full. Requires: takes(limit).
  std::optional<std::uint32_t> add(const limit::Limit& limit);
  // Whether it is of the book's sort.
  bool takes(const limit::Limit& limit) const;

  // Requires: number < size().
  const limit::Limit& operator[](std::uint32_t number) const {
    return pages_[number / kPage].load(std::memory_order_acquire)[number % kPage];
  }
  std::uint32_t size() const { return size_.load(std::memory_order_acquire); }

  bool jittered() const { return jittered_; }
  bool keeps_entries() const { return keeps_entries_; }
  // Of the widest state that a limit of the sort can have.
  int state_words() const { return state_words_; }

 private:
  static constexpr std::uint32_t kPage = 1024;

  std::vector<std::vector<limit::Limit>> owned_;  // each reserved in full before its first limit
  std::array<std::atomic<const limit::Limit*>, kMost / kPage> pages_{};
  std::atomic<std::uint32_t> size_{0};
  bool jittered_;
  bool keeps_entries_;
  bool uniform_;
  int state_words_;
};

}  // namespace weir::store
