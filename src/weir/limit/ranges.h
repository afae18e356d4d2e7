// SPDX-License-Identifier: Apache-2.0
//
// The ranges of the numbers that limits are made of. They are checked once, when a limit is created, so that no step
// can overflow. Internal to this folder but for the constants.
#pragma once

#include <cstdint>

#include "weir/base/result.h"
#include "weir/limit/outcome.h"

namespace weir::limit {

inline constexpr std::int64_t kMaxUnits = 1'000'000'000'000;  // of counts, capacities and costs
inline constexpr Ticks kMaxTicksPerSecond = 1'000'000'000;
// A jump of the clock that is larger than this is repaired, a smaller one is sat out.
inline constexpr std::int64_t kClockStepSeconds = 60;
// The largest Call::now: eight years after the store's epoch, which is the start of the process.
inline constexpr std::int64_t kMaxNowSeconds = std::int64_t{8} * 365 * 86'400;
inline constexpr std::int64_t kMaxPeriodSeconds = std::int64_t{400} * 86'400;
inline constexpr std::int64_t kMaxRefillSeconds = std::int64_t{10} * 365 * 86'400;

inline bool in(std::int64_t value, std::int64_t low, std::int64_t high) { return low <= value && value <= high; }

// From 1 ms to 400 days. Requires: `second` is in range.
inline bool is_period(Ticks period, Ticks second) {
  return period >= 1 && static_cast<__int128>(period) * 1000 >= second && period <= kMaxPeriodSeconds * second;
}

// What is wrong with the numbers that every limit has; nullptr: nothing.
inline const char* common_fault(Cost capacity, Cost debt, Ticks second) {
  if (!in(second, 1, kMaxTicksPerSecond)) return "a second must have 1 to 10^9 ticks";
  if (!in(capacity, 0, kMaxUnits)) return "a limit must allow 0 to 10^12 units";
  if (!in(debt, 0, kMaxUnits)) return "a debt must be 0 to 10^12 units";
  return nullptr;
}

// Numbers with a rate of count per period as create() takes them, which knows no period below a millisecond while a
// reduced fraction may have one: the same rate over a millisecond at least.
template <class Numbers>
Numbers widened(Numbers numbers) {
  const Ticks least = (numbers.ticks_per_second + 999) / 1000;
  if (numbers.period <= 0 || numbers.period >= least) return numbers;
  const std::int64_t factor = (least + numbers.period - 1) / numbers.period;
  if (numbers.count > kMaxUnits / factor) return numbers;
  numbers.count *= factor;
  numbers.period *= factor;
  return numbers;
}

}  // namespace weir::limit
