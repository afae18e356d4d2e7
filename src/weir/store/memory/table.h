// SPDX-License-Identifier: Apache-2.0
//
// One kind of account: its shards and every layout it ever had. Tables are kept in a list that only grows, so that it
// can be walked without a lock; they and their generations live as long as the store.
// Thread safety: adopt requires the store's registry lock; the rest may be called from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "weir/store/memory/generation.h"
#include "weir/store/memory/memory_store.h"
#include "weir/store/memory/shard.h"

namespace weir::store {

class MemoryStore::Table {
 public:
  // Requires: shard_bits <= 8.
  Table(const Layout& layout, int shard_bits, Table* next)
      : next_(next),
        kind_(layout.kind),
        expendable_(layout.expendable),
        shards_(std::make_unique<Shard[]>(std::size_t{1} << shard_bits)),
        mask_((std::uint64_t{1} << shard_bits) - 1) {}

  const std::string& kind() const { return kind_; }
  bool expendable() const { return expendable_; }
  Table* next() const { return next_; }

  // Puts the layout in force; one that was in force before is the same generation again.
  const Generation* adopt(const Layout& layout) {
    const Generation* wanted = nullptr;
    for (const auto& known : generations_) {
      if (known->layout() == layout) wanted = known.get();
    }
    if (wanted == nullptr) wanted = generations_.emplace_back(std::make_unique<Generation>(layout)).get();
    in_force_.store(wanted, std::memory_order_release);
    return wanted;
  }
  const Generation& in_force() const { return *in_force_.load(std::memory_order_acquire); }

  // The high word chooses the shard, the low word the place in it.
  Shard& shard_of(const Fingerprint& key) { return shards_[key.high & mask_]; }
  Shard& shard(std::uint64_t index) { return shards_[index & mask_]; }

  // Records, and calls that are about to make one.
  std::uint64_t accounts() const { return accounts_.load(std::memory_order_relaxed); }
  void count_new() { accounts_.fetch_add(1, std::memory_order_relaxed); }
  void count_dropped(std::uint64_t dropped) {
    if (dropped > 0) accounts_.fetch_sub(dropped, std::memory_order_relaxed);
  }

  std::uint64_t bytes() const {
    std::uint64_t total = sizeof(Table) + (mask_ + 1) * sizeof(Shard);
    for (std::uint64_t i = 0; i <= mask_; ++i) total += shards_[i].bytes();
    return total;
  }

 private:
  Table* const next_;
  const std::string kind_;
  const bool expendable_;
  std::vector<std::unique_ptr<const Generation>> generations_;  // outlive the shards, whose records they can read
  const std::unique_ptr<Shard[]> shards_;
  const std::uint64_t mask_;
  std::atomic<const Generation*> in_force_{nullptr};
  alignas(64) std::atomic<std::uint64_t> accounts_{0};  // apart from what every call reads
};

}  // namespace weir::store
