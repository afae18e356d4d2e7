// SPDX-License-Identifier: Apache-2.0
//
// Token bucket in its GCRA form (ITU-T I.371; the virtual scheduling algorithm): N units per P ticks, at most B at
// once. The state is one number, the theoretical arrival time: when the bucket will be full again. It is kept in
// units of 1/N tick, so that every rate is exact and a step needs no division to decide.
//
// Guarantee: in any closed interval of x ticks at most B + floor(x*N/P) units are admitted. A clock that goes back
// gives nothing: by up to a minute it is as if time stood still; after a larger step the bucket is taken to be empty
// from then on ("repair"), so that nobody is locked out for longer than that minute and a full refill.
// Thread safety: an immutable value; the state belongs to whoever holds it.
#pragma once

#include <cstdint>
#include <span>

#include "weir/base/result.h"
#include "weir/limit/gcra.h"
#include "weir/limit/outcome.h"

namespace weir::limit {

class TokenBucket {
 public:
  struct Numbers {
    std::int64_t count = 0;                  // N, 1 to kMaxUnits
    Ticks period = 0;                        // P, ticks
    Cost capacity = 0;                       // B, 0 to kMaxUnits
    Ticks ticks_per_second = 1'000'000'000;  // 1 to 10^9
    Cost debt = 0;                           // D: how far take may go below empty, 0 to kMaxUnits
    bool operator==(const Numbers&) const = default;
  };

  // Fails when a number is out of range: P is 1 ms to 400 days, a full refill takes at most 10 years.
  static Result<TokenBucket> create(const Numbers& numbers);

  // 64-bit words of state: 1 while time in 1/N ticks fits (N <= 16 after reduction), else 2. All zero: full.
  int state_words() const { return narrow_ ? 1 : 2; }

  Ticks time(const Call& call) const { return call.now; }

  // One decision; writes `state` only when admitted with cost > 0, or to repair it (never for cost 0).
  // Requires: 0 <= now <= kMaxNowSeconds, 0 <= cost <= kMaxUnits, state.size() >= state_words().
  [[gnu::always_inline]] void step(std::span<std::int64_t> state, Ticks now, Cost cost, Outcome& outcome) const {
    if (!narrow_) [[unlikely]]
      return step_wide(state, now, cost, outcome);
    std::int64_t arrival = state[0];
    gcra::step(scaled<std::int64_t>(), arrival, now, cost, outcome);
    state[0] = arrival;
  }
  Outcome step(std::span<std::int64_t> state, Ticks now, Cost cost) const {
    Outcome outcome;
    step(state, now, cost, outcome);
    return outcome;
  }

  // Takes back a cost that was admitted; never above full. `at`, as everywhere: Outcome::at of the charge; a bucket
  // has no use for it.
  void give_back(std::span<std::int64_t> state, Ticks now, Cost cost, Ticks at) const;

  // Takes a cost whether it is there or not, down to D below empty.
  void take(std::span<std::int64_t> state, Ticks now, Cost cost, Ticks at) const;

  // True when the state equals "never used" at `now`, so that it may be forgotten.
  bool is_initial(std::span<const std::int64_t> state, Ticks now) const;

  // The state of a bucket with other numbers, as a state of this one: the used amount is carried, cut at the new
  // capacity and rounded up to 1/N tick. Equal numbers change nothing.
  void carry(const TokenBucket& from, std::span<const std::int64_t> old_state, std::span<std::int64_t> state,
             const Call& call) const;

  Cost capacity() const { return numbers_.capacity; }
  // Requires: 0 to capacity().
  TokenBucket with_capacity(Cost capacity) const;

  // As created, but with N and P divided by their greatest common divisor.
  const Numbers& numbers() const { return numbers_; }
  bool operator==(const TokenBucket&) const = default;

 private:
  static constexpr std::int64_t kMaxNarrowCount = 16;
  friend class LeakyBucket;

  explicit TokenBucket(const Numbers& reduced);
  template <class Int>
  gcra::Bucket<Int> scaled() const {
    return {numbers_.count,          numbers_.period,
            numbers_.capacity,       numbers_.ticks_per_second,
            static_cast<Int>(full_), static_cast<Int>(overdraft_)};
  }
  void step_wide(std::span<std::int64_t> state, Ticks now, Cost cost, Outcome& outcome) const;

  Numbers numbers_;
  __int128 full_;       // B*P
  __int128 overdraft_;  // D*P
  bool narrow_;
};

}  // namespace weir::limit
