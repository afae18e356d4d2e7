// SPDX-License-Identifier: Apache-2.0
//
// Leaky bucket as a queue: requests pass at a steady rate of N per P ticks; up to `queue` of them wait in line, of
// which the first `undelayed` need not wait. The place in the line is the debt of a token bucket that holds queue +
// 1, so state and arithmetic are that bucket's (gcra.h), and a request's delay follows from it. (A leaky bucket as a
// meter, without a line, is a token bucket: TokenBucket.)
//
// Guarantee: requests that have to wait start at least P/N apart, in the order in which they came. A place that is
// given back moves everybody behind it up by P/N; who keeps the line has to tell them.
// Operations and their contract: as in token_bucket.h; the cost is 1, and there is no `take`.
// Thread safety: an immutable value; the state belongs to whoever holds it.
#pragma once

#include <cstdint>
#include <span>

#include "weir/base/result.h"
#include "weir/limit/outcome.h"
#include "weir/limit/token_bucket.h"

namespace weir::limit {

class LeakyBucket {
 public:
  struct Numbers {
    std::int64_t count = 0;      // N, 1 to kMaxUnits
    Ticks period = 0;            // P, ticks
    std::int64_t queue = 0;      // places in the line, 0 to kMaxUnits - 1
    std::int64_t undelayed = 0;  // of which so many need not wait, 0 to queue
    Ticks ticks_per_second = 1'000'000'000;
    bool operator==(const Numbers&) const = default;
  };

  static Result<LeakyBucket> create(const Numbers& numbers);

  int state_words() const { return bucket_.state_words(); }
  Ticks time(const Call& call) const { return call.now; }

  void step(std::span<std::int64_t> state, Ticks now, Cost cost, Outcome& outcome) const;

  // Somebody in the line goes away: everybody behind moves up.
  void give_back(std::span<std::int64_t> state, Ticks now, Cost cost, Ticks at) const {
    bucket_.give_back(state, now, cost, at);
  }
  // By how much everybody behind moves up at most: P/N ticks, rounded down.
  Ticks interval() const { return bucket_.numbers().period / bucket_.numbers().count; }

  bool is_initial(std::span<const std::int64_t> state, Ticks now) const { return bucket_.is_initial(state, now); }
  void carry(const LeakyBucket& from, std::span<const std::int64_t> old_state, std::span<std::int64_t> state,
             const Call& call) const {
    bucket_.carry(from.bucket_, old_state, state, call);
  }

  Cost capacity() const { return bucket_.capacity(); }  // queue + 1
  const Numbers& numbers() const { return numbers_; }
  bool operator==(const LeakyBucket&) const = default;

 private:
  LeakyBucket(const Numbers& numbers, const TokenBucket& bucket) : numbers_(numbers), bucket_(bucket) {}

  template <class Int>
  void step_scaled(Int& arrival, Ticks now, Cost cost, Outcome& outcome) const;

  Numbers numbers_;
  TokenBucket bucket_;
};

}  // namespace weir::limit
