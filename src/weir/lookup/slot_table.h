// SPDX-License-Identifier: Apache-2.0
//
// Where a shard of the cache keeps what requests look at: a flat table, a slot a cache line, so that finding
// something among a million waits for memory once. Open addressing by the fingerprint, which nobody can choose; what
// is erased leaves no mark behind, since what stands after it moves up. Thread safety: none, but
// prefetch may be called at any time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "weir/base/fingerprint.h"
#include "weir/lookup/known.h"

namespace weir::lookup {

struct alignas(64) Slot {
  static constexpr std::uint32_t kFree = UINT32_MAX;

  Fingerprint print;
  KnownPtr known;
  Instant due{};
  Instant expires{};
  std::uint32_t entry = kFree;  // where the rest stands that is known of it
  bool asked_for = false;       // since the hand came by

  bool is_free() const { return entry == kFree; }
};
static_assert(sizeof(Slot) == 64);

class SlotTable {
 public:
  // Asks the processor for the line where a slot probably is, while a lock is still being taken.
  void prefetch(const Fingerprint& print) const {
    const Slot* const first = first_.load(std::memory_order_relaxed);
    if (first != nullptr) __builtin_prefetch(first + (print.low & last_.load(std::memory_order_relaxed)), 1);
  }

  // Null: it is not there.
  Slot* find(const Fingerprint& print) {
    for (std::uint32_t at = home_of(print); count_ > 0; at = (at + 1) & mask_) {
      Slot& slot = slots_[at];
      if (slot.is_free()) return nullptr;
      if (slot.print == print) return &slot;
    }
    return nullptr;
  }

  // A new one. Other slots may move. Requires: it is not there, and `entry` is not kFree.
  Slot& add(const Fingerprint& print, std::uint32_t entry);
  // Other slots may move. Requires: it is there.
  void erase(const Fingerprint& print);

  // Calls `visit` for every slot in use.
  template <class Visit>
  void each(Visit visit) {
    for (std::uint32_t at = 0; slots_ != nullptr && at <= mask_; ++at) {
      if (!slots_[at].is_free()) visit(slots_[at]);
    }
  }

  std::uint32_t size() const { return count_; }

 private:
  std::uint32_t home_of(const Fingerprint& print) const { return static_cast<std::uint32_t>(print.low) & mask_; }
  Slot& free_slot(const Fingerprint& print);
  void grow();

  std::unique_ptr<Slot[]> slots_;  // mask_ + 1 of them, a power of two
  std::uint32_t mask_ = 0;
  std::uint32_t count_ = 0;
  // Where the table is, for prefetch: what it reads may have become another one since.
  std::atomic<const Slot*> first_{nullptr};
  std::atomic<std::uint32_t> last_{0};
};

}  // namespace weir::lookup
