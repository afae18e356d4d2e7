// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of the token bucket on one scaled integer, for both widths. All times here are in 1/N ticks, so a
// unit is exactly P of them and a tick exactly N. Internal to this folder.
//
// Overflow: 64 bits are used only where `fits_narrow` holds. With 128 bits the largest product, c*P, is below 2^97.
// A cost is multiplied only after it was found to be at most B + D, and B*P is `full`, D*P is `overdraft`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "weir/limit/outcome.h"
#include "weir/limit/ranges.h"

namespace weir::limit::gcra {

using Wide = __int128;

template <class Int>
struct Unsigned {
  using Type = std::uint64_t;
};
template <>
struct Unsigned<Wide> {
  using Type = unsigned __int128;
};

template <class Int>
struct Bucket {
  std::int64_t count;   // N
  std::int64_t period;  // P
  Cost capacity;        // B
  std::int64_t second;  // ticks
  Int full;             // B*P: the debt of an empty bucket
  Int overdraft;        // D*P: how far a settlement may go below empty

  Int lowest() const { return full + overdraft; }
  // A larger debt can only come from a clock that went back.
  Int most_owed() const { return lowest() + static_cast<Int>(kClockStepSeconds * second) * count; }
};

// Whether the largest sum, an instant eight years from the epoch and all that a bucket can owe on top of a charge,
// fits in 64 bits.
inline bool fits_narrow(const Bucket<Wide>& bucket) {
  const Wide latest = static_cast<Wide>(kMaxNowSeconds) * bucket.second * bucket.count;
  return latest + bucket.most_owed() + bucket.lowest() <= INT64_MAX;
}

// The arrival as a state keeps it: one word, or two with the low one first.
template <class Int>
Int load(std::span<const std::int64_t> state) {
  if constexpr (sizeof(Int) == sizeof(std::int64_t)) {
    return state[0];
  } else {
    const auto low = static_cast<std::uint64_t>(state[0]);
    const auto high = static_cast<std::uint64_t>(state[1]);
    return static_cast<Wide>(static_cast<unsigned __int128>(high) << 64 | low);
  }
}

inline void store(std::span<std::int64_t> state, std::int64_t arrival) { state[0] = arrival; }

inline void store(std::span<std::int64_t> state, Wide arrival) {
  const auto bits = static_cast<unsigned __int128>(arrival);
  state[0] = static_cast<std::int64_t>(static_cast<std::uint64_t>(bits));
  state[1] = static_cast<std::int64_t>(static_cast<std::uint64_t>(bits >> 64));
}

// ceil(value / by). Requires: value >= 0, by >= 1, and a quotient below 2^63.
template <class Int>
std::int64_t divide_up(Int value, std::int64_t by) {
  if (by == 1) return static_cast<std::int64_t>(value);  // every rate with a whole interval
  using U = typename Unsigned<Int>::Type;
  const U divisor = static_cast<U>(by);
  return static_cast<std::int64_t>((static_cast<U>(value) + divisor - 1) / divisor);
}

// floor(value / by). Requires: value >= 0, by >= 1, and a quotient below 2^63.
template <class Int>
std::int64_t divide_down(Int value, std::int64_t by) {
  using U = typename Unsigned<Int>::Type;
  return static_cast<std::int64_t>(static_cast<U>(value) / static_cast<U>(by));
}

// How far the bucket is from full at `start` (= now*N).
template <class Int>
[[gnu::always_inline]] inline Int debt(const Bucket<Int>& bucket, Int arrival, Int start) {
  const Int found = std::max<Int>(arrival - start, 0);
  if (found > bucket.full && found > bucket.most_owed()) [[unlikely]]
    return bucket.lowest();
  return found;
}

// The outcomes are written field by field to where they stay, and everything is inlined: a copy of an Outcome right
// after it was written costs more than the arithmetic.

// `remaining`, `reset_after` and `next_after` of a bucket with this debt.
template <class Int>
[[gnu::always_inline]] inline void describe(const Bucket<Int>& bucket, Int debt, Outcome& outcome) {
  outcome.reset_after = divide_up(debt, bucket.count);
  const Cost remaining = debt < bucket.full ? divide_down<Int>(bucket.full - debt, bucket.period) : 0;
  outcome.remaining = remaining;
  if (remaining == bucket.capacity) {
    outcome.next_after.reset();
    return;
  }
  const Int next = static_cast<Int>(remaining + 1) * bucket.period;
  outcome.next_after = divide_up<Int>(debt + next - bucket.full, bucket.count);
}

template <class Int>
[[gnu::always_inline]] inline void step(const Bucket<Int>& bucket, Int& arrival, Ticks now, Cost cost,
                                        Outcome& outcome) {
  const Int start = static_cast<Int>(now) * bucket.count;
  const Int owed = debt(bucket, arrival, start);
  if (cost > 0 && owed < arrival - start) [[unlikely]]
    arrival = start + owed;  // repair
  outcome.admitted = false;
  outcome.delay = 0;
  outcome.at = now;
  if (cost > bucket.capacity) {
    outcome.retry_after.reset();
    return describe(bucket, owed, outcome);
  }
  const Int wanted = owed + static_cast<Int>(cost) * bucket.period;
  if (wanted > bucket.full) {
    outcome.retry_after = divide_up<Int>(wanted - bucket.full, bucket.count);
    return describe(bucket, owed, outcome);
  }
  outcome.admitted = true;
  outcome.retry_after = 0;
  if (cost > 0) arrival = start + wanted;
  describe(bucket, wanted, outcome);
}

template <class Int>
void give_back(const Bucket<Int>& bucket, Int& arrival, Ticks now, Cost cost) {
  const Int start = static_cast<Int>(now) * bucket.count;
  if (arrival <= start) return;
  const Int returned = static_cast<Int>(std::min(cost, bucket.capacity)) * bucket.period;
  arrival = std::max(start, arrival - returned);
}

// Takes a cost whether it is there or not, down to the lowest level.
template <class Int>
void take(const Bucket<Int>& bucket, Int& arrival, Ticks now, Cost cost) {
  const Int start = static_cast<Int>(now) * bucket.count;
  const Int lowest = bucket.lowest();
  const Cost most = divide_down<Int>(lowest, bucket.period);
  const Int taken = static_cast<Int>(std::min(cost, most)) * bucket.period;
  const Int owed = debt(bucket, arrival, start);
  arrival = start + std::min(owed + taken, std::max(owed, lowest));
}

}  // namespace weir::limit::gcra
