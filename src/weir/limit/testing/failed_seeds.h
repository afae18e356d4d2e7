// SPDX-License-Identifier: Apache-2.0
//
// Traces that once showed a fault. They run before all others, whatever the seed.
#pragma once

#include <cstdint>
#include <string_view>

#include "weir/limit/testing/random_limits.h"

namespace weir::limit {

struct FailedSeed {
  std::string_view property;  // the name of the test
  Kind kind;
  std::uint64_t seed;  // of the trace, as the failure told it
};

inline constexpr FailedSeed kFailedSeeds[] = {
    // A repair gave the window before the weight of the clock's place in its own window.
    {"AnEarlierClockNeverAdmitsWhatALaterOneRefuses", Kind::kSlidingWindow, 1'000'003},
    {"EveryFieldIsWhatItsDefinitionSays", Kind::kSlidingWindow, 1'000'025},
    // A peek at leases from a clock that was far ahead promised a time that no step kept.
    {"EveryFieldIsWhatItsDefinitionSays", Kind::kConcurrency, 1'000'044},
};

}  // namespace weir::limit
