// SPDX-License-Identifier: Apache-2.0
//
// What one step of a limit says. Times are whole ticks of the store that keeps the state (nanoseconds in memory);
// every time is rounded up and every amount down, so that a client that obeys succeeds.
// Thread safety: plain values.
#pragma once

#include <cstdint>
#include <optional>

namespace weir::limit {

using Ticks = std::int64_t;  // instants (since the store's epoch) and durations
using Cost = std::int64_t;   // units that one request takes, >= 0

struct Outcome {
  bool admitted = false;
  Cost remaining = 0;                // the largest cost that would pass right after this step
  std::optional<Ticks> retry_after;  // 0 when admitted; absent: this cost can pass at no time
  Ticks reset_after = 0;             // until the state equals "never used"
  std::optional<Ticks> next_after;   // until `remaining` grows by one; absent at full capacity

  bool operator==(const Outcome&) const = default;
};

}  // namespace weir::limit
