// SPDX-License-Identifier: Apache-2.0
//
// Traces of token buckets with every value that each step must give, computed with exact fractions. For tests: of the
// arithmetic itself and of every store that uses it.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "weir/limit/outcome.h"
#include "weir/limit/token_bucket.h"

namespace weir::limit::golden {

constexpr Ticks kNever = -1;
constexpr bool kAdmitted = true;
constexpr bool kRefused = false;

struct Step {
  Ticks now;
  Cost cost;
  bool admitted;
  Cost remaining;
  Ticks retry_after;  // or kNever
  Ticks reset_after;
};

struct Trace {
  std::string_view name;
  TokenBucket::Numbers numbers;
  std::vector<Step> steps;
};

inline std::optional<Ticks> retry_after(const Step& step) {
  return step.retry_after == kNever ? std::nullopt : std::optional(step.retry_after);
}

inline std::vector<Trace> traces() {
  constexpr bool A = kAdmitted;
  constexpr bool D = kRefused;
  constexpr Ticks kNs = 1'000'000'000;  // ticks per second
  constexpr Ticks kUs = 1'000'000;
  constexpr Ticks kMs = 1'000;
  return {
      {"ten per second, burst of five",
       {10, 1'000'000, 5, kUs},
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
       {3, 1'000'000'000, 1, kNs},
       {{0, 1, A, 0, 0, 333333334},
        {333333333, 1, D, 0, 1, 1},
        {333333334, 1, A, 0, 0, 333333334},
        {666666666, 1, D, 0, 2, 2},
        {666666668, 1, A, 0, 0, 333333334}}},
      {"retry_after is rounded up",
       {3, 1000, 1, kMs},
       {{0, 1, A, 0, 0, 334},
        {0, 1, D, 0, 334, 334},
        {333, 1, D, 0, 1, 1},
        {334, 1, A, 0, 0, 334},
        {667, 1, D, 0, 1, 1},
        {668, 1, A, 0, 0, 334}}},
      {"a refilled fraction survives polling",
       {3, 1000, 3, kMs},
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
      {"a clock that swings by two seconds gives nothing",
       {10, 1000, 10, kMs},
       {{2000, 10, A, 0, 0, 1000},
        {0, 1, D, 0, 2100, 3000},
        {2000, 1, D, 0, 100, 1000},
        {0, 1, D, 0, 2100, 3000},
        {2100, 1, A, 0, 0, 1000}}},
      {"a clock that was an hour ahead locks nobody out",
       {10, 1000, 10, kMs},
       {{3600000, 10, A, 0, 0, 1000}, {0, 1, D, 0, 100, 1000}, {100, 1, A, 0, 0, 1000}, {100, 1, D, 0, 100, 1000}}},
      {"a cost above the capacity never passes and takes nothing",
       {10, 1000, 10, kMs},
       {{0, 50, D, 10, kNever, 0},
        {0, 0, A, 10, 0, 0},
        {0, 10, A, 0, 0, 1000},
        {0, 50, D, 0, kNever, 1000},
        {500, 5, A, 0, 0, 1000}}},
      {"a limit of zero",
       {10, 1000, 0, kMs},
       {{0, 0, A, 0, 0, 0}, {0, 1, D, 0, kNever, 0}, {99999, 1, D, 0, kNever, 0}}},
      {"an interval below one tick",
       {1'500'000'000, 1'000'000'000, 1000, kNs},
       {{0, 1000, A, 0, 0, 667},
        {0, 1, D, 0, 1, 667},
        {0, 3, D, 0, 2, 667},
        {1, 1, A, 0, 0, 667},
        {2, 2, A, 0, 0, 667},
        {2, 1, D, 0, 1, 667},
        {1000, 0, A, 1000, 0, 0}}},
      {"one per thirty days",
       {1, 2592000, 1, 1},
       {{0, 1, A, 0, 0, 2592000},
        {1, 1, D, 0, 2591999, 2591999},
        {2591999, 1, D, 0, 1, 1},
        {2592000, 1, A, 0, 0, 2592000}}},
      {"products that do not fit in 64 bits",
       {999983, 86'400'000'000'000, 999983, kNs},
       {{0, 999983, A, 0, 0, 86'400'000'000'000},
        {0, 1, D, 0, 86401469, 86'400'000'000'000},
        {86401468, 1, D, 0, 1, 86'399'913'598'532},
        {86401469, 1, A, 0, 0, 86'400'000'000'000},
        {86'400'000'000'000, 0, A, 999982, 0, 86401469}}},
  };
}

}  // namespace weir::limit::golden
