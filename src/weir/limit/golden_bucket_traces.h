// SPDX-License-Identifier: Apache-2.0
//
// Traces of token buckets with every value that each step must give (golden_traces.h).
#pragma once

#include <vector>

#include "weir/limit/golden_trace.h"
#include "weir/limit/token_bucket.h"

namespace weir::limit::golden {

inline Limit bucket(std::int64_t count, Ticks period, Cost capacity, Ticks second) {
  return TokenBucket::create({.count = count, .period = period, .capacity = capacity, .ticks_per_second = second})
      .value();
}

// Rates of whole intervals and others.
inline std::vector<Trace> rates() {
  return {
      {"ten per second, burst of five",
       bucket(10, 1'000'000, 5, kUs),
       kUs,
       {},
       {{0, 1, A, 4, 0, 100000},
        {0, 1, A, 3, 0, 200000},
        {0, 1, A, 2, 0, 300000},
        {0, 1, A, 1, 0, 400000},
        {0, 1, A, 0, 0, 500000},
        {0, 1, D, 0, 100000, 500000},
        {0, 1, D, 0, 100000, 500000},
        {99999, 1, D, 0, 1, 400001},
        {100000, 1, A, 0, 0, 500000},
        {100000, 1, D, 0, 100000, 500000},
        {600000, 0, A, 5, 0, 0},
        {600000, 5, A, 0, 0, 500000}}},
      {"an interval that is no whole number is not rounded down",
       bucket(3, 1'000'000'000, 1, kNs),
       kNs,
       {},
       {{0, 1, A, 0, 0, 333333334},
        {333333333, 1, D, 0, 1, 1},
        {333333334, 1, A, 0, 0, 333333334},
        {666666666, 1, D, 0, 2, 2},
        {666666668, 1, A, 0, 0, 333333334}}},
      {"retry_after is rounded up",
       bucket(3, 1000, 1, kMs),
       kMs,
       {},
       {{0, 1, A, 0, 0, 334},
        {0, 1, D, 0, 334, 334},
        {333, 1, D, 0, 1, 1},
        {334, 1, A, 0, 0, 334},
        {667, 1, D, 0, 1, 1},
        {668, 1, A, 0, 0, 334}}},
      {"a refilled fraction survives polling",
       bucket(3, 1000, 3, kMs),
       kMs,
       {},
       {{0, 3, A, 0, 0, 1000},
        {100, 1, D, 0, 234, 900},
        {200, 1, D, 0, 134, 800},
        {300, 0, A, 0, 0, 700},
        {333, 1, D, 0, 1, 667},
        {334, 1, A, 0, 0, 1000},
        {400, 1, D, 0, 267, 934},
        {667, 1, A, 0, 0, 1000},
        {1334, 2, A, 0, 0, 1000},
        {5000, 0, A, 3, 0, 0}}},
  };
}

// Clocks that swing, costs above the capacity, a limit of zero.
inline std::vector<Trace> clocks_and_costs() {
  return {
      {"a clock that swings by two seconds gives nothing",
       bucket(10, 1000, 10, kMs),
       kMs,
       {},
       {{2000, 10, A, 0, 0, 1000},
        {0, 1, D, 0, 2100, 3000},
        {2000, 1, D, 0, 100, 1000},
        {0, 1, D, 0, 2100, 3000},
        {2100, 1, A, 0, 0, 1000}}},
      {"a clock that was an hour ahead locks nobody out",
       bucket(10, 1000, 10, kMs),
       kMs,
       {},
       {{3600000, 10, A, 0, 0, 1000}, {0, 1, D, 0, 100, 1000}, {100, 1, A, 0, 0, 1000}, {100, 1, D, 0, 100, 1000}}},
      {"a cost above the capacity never passes and takes nothing",
       bucket(10, 1000, 10, kMs),
       kMs,
       {},
       {{0, 50, D, 10, kNever, 0},
        {0, 0, A, 10, 0, 0},
        {0, 10, A, 0, 0, 1000},
        {0, 50, D, 0, kNever, 1000},
        {500, 5, A, 0, 0, 1000}}},
      {"a limit of zero",
       bucket(10, 1000, 0, kMs),
       kMs,
       {},
       {{0, 0, A, 0, 0, 0}, {0, 1, D, 0, kNever, 0}, {99999, 1, D, 0, kNever, 0}}},
  };
}

// The ends of the ranges.
inline std::vector<Trace> extreme_rates() {
  return {
      {"an interval below one tick",
       bucket(1'500'000'000, 1'000'000'000, 1000, kNs),
       kNs,
       {},
       {{0, 1000, A, 0, 0, 667},
        {0, 1, D, 0, 1, 667},
        {0, 3, D, 0, 2, 667},
        {1, 1, A, 0, 0, 667},
        {2, 2, A, 0, 0, 667},
        {2, 1, D, 0, 1, 667},
        {1000, 0, A, 1000, 0, 0}}},
      {"one per thirty days",
       bucket(1, 2592000, 1, kSecond),
       kSecond,
       {},
       {{0, 1, A, 0, 0, 2592000},
        {1, 1, D, 0, 2591999, 2591999},
        {2591999, 1, D, 0, 1, 1},
        {2592000, 1, A, 0, 0, 2592000}}},
      {"products that do not fit in 64 bits",
       bucket(999983, 86'400'000'000'000, 999983, kNs),
       kNs,
       {},
       {{0, 999983, A, 0, 0, 86'400'000'000'000},
        {0, 1, D, 0, 86401469, 86'400'000'000'000},
        {86401468, 1, D, 0, 1, 86'399'913'598'532},
        {86401469, 1, A, 0, 0, 86'400'000'000'000},
        {86'400'000'000'000, 0, A, 999982, 0, 86401469}}},
  };
}

}  // namespace weir::limit::golden
