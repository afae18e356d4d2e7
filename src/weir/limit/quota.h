// SPDX-License-Identifier: Apache-2.0
//
// What is used of L units in one period, whatever makes the period: the arithmetic of fixed windows and calendar
// quotas. Internal to this folder. Thread safety: a plain value.
#pragma once

#include <algorithm>
#include <span>

#include "weir/limit/outcome.h"

namespace weir::limit {

struct Quota {
  Ticks start;
  Ticks end;  // the period has the instants from start to end - 1
  Cost used;
  bool repaired = false;  // moved to a clock that went back far: to be written even if the step refuses

  bool has(Ticks at) const { return start <= at && at < end; }

  // Requires: now < end. Returns whether the quota has to be written.
  [[gnu::always_inline]] bool step(Cost capacity, Ticks now, Cost cost, Outcome& outcome) {
    const Ticks left = end - now;
    outcome.admitted = cost <= capacity - used;
    outcome.delay = 0;
    outcome.at = std::max(now, start);
    if (outcome.admitted) {
      outcome.retry_after = 0;
      used += cost;
    } else if (cost <= capacity) {
      outcome.retry_after = left;
    } else {
      outcome.retry_after.reset();
    }
    outcome.remaining = std::max<Cost>(0, capacity - used);
    outcome.reset_after = used > 0 ? left : 0;
    if (outcome.remaining < capacity) {
      outcome.next_after = left;
    } else {
      outcome.next_after.reset();
    }
    return cost > 0 && (outcome.admitted || repaired);
  }

  // Of what was charged at `at`, if this is its period. Both return whether the quota has to be written.
  bool give_back(Cost cost, Ticks at) {
    if (!has(at)) return false;
    used -= std::min(cost, used);
    return true;
  }
  // Up to `most`; what is above it stays.
  bool take(Cost cost, Cost most, Ticks at) {
    if (!has(at)) return false;
    used = std::min(used + cost, std::max(used, most));
    return true;
  }
};

}  // namespace weir::limit
