// SPDX-License-Identifier: Apache-2.0
//
// What a golden trace is: a limit, and steps with every value that each of them must give. The values come from exact
// fractions, worked out apart from the code. For tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "weir/limit/limit.h"
#include "weir/limit/outcome.h"

namespace weir::limit::golden {

constexpr Ticks kNever = -1;
constexpr bool A = true;   // admitted
constexpr bool D = false;  // denied

// Ticks per second.
constexpr Ticks kSecond = 1;
constexpr Ticks kMs = 1'000;
constexpr Ticks kUs = 1'000'000;
constexpr Ticks kNs = 1'000'000'000;

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
  Limit limit;
  Ticks second;                    // ticks
  std::vector<std::int64_t> seed;  // the words of the state to begin with; empty: never used
  std::vector<Step> steps;
};

inline std::optional<Ticks> retry_after(const Step& step) {
  return step.retry_after == kNever ? std::nullopt : std::optional(step.retry_after);
}

}  // namespace weir::limit::golden
