// SPDX-License-Identifier: Apache-2.0
//
// The numbers of a limit that counts in aligned windows, fixed or sliding. Thread safety: a plain value.
#pragma once

#include "weir/limit/alignment.h"
#include "weir/limit/outcome.h"
#include "weir/limit/ranges.h"

namespace weir::limit {

struct WindowNumbers {
  Cost capacity = 0;    // L, 0 to kMaxUnits
  Alignment alignment;  // W is 1 ms to 400 days
  Ticks ticks_per_second = 1'000'000'000;
  Cost debt = 0;  // D: how far take may go above L, 0 to kMaxUnits
  bool operator==(const WindowNumbers&) const = default;

  // What is wrong with them; nullptr: nothing.
  const char* fault() const {
    if (const char* common = common_fault(capacity, debt, ticks_per_second)) return common;
    if (!is_period(alignment.window, ticks_per_second)) return "a window must last 1 ms to 400 days";
    if (!in(alignment.offset, 0, alignment.window - 1)) return "a window's offset must be less than the window";
    return nullptr;
  }
};

}  // namespace weir::limit
