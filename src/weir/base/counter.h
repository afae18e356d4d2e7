// SPDX-License-Identifier: Apache-2.0
//
// A number that one thread changes and any thread may read, at the price of a plain addition. Sums over threads are
// made by whoever reads. Thread safety: add and set by the owner only, value by anybody.
#pragma once

#include <atomic>
#include <cstdint>

namespace weir {

class OwnedCounter {
 public:
  void add(std::uint64_t n = 1) { set(value() + n); }
  void subtract(std::uint64_t n = 1) { set(value() - n); }
  void set(std::uint64_t n) { value_.store(n, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

}  // namespace weir
