// SPDX-License-Identifier: Apache-2.0
//
// What a step of a limit is told, and what it says. Times are whole ticks of the store that keeps the state
// (nanoseconds in memory); every time is rounded up and every amount down, so that a client that obeys succeeds.
// Thread safety: plain values.
#pragma once

#include <cstdint>
#include <optional>

namespace weir::limit {

using Ticks = std::int64_t;  // instants and durations
using Cost = std::int64_t;   // units that one request takes, >= 0

// Names a lease of a concurrency limit: 128 random bits, or any other value that is used once. Zero names none.
struct LeaseId {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  bool operator==(const LeaseId&) const = default;
};

// When a step happens, and for whom.
struct Call {
  Ticks now = 0;            // monotonic, since the epoch of the state's store, e.g. the start of the process; >= 0
  Ticks wall = 0;           // since 1970-01-01 UTC: what aligned windows and civil periods go by
  std::uint64_t phase = 0;  // of the subject (fnv1a of its key): where its windows begin if they have jitter
  LeaseId lease{};          // of the request, for concurrency limits

  // For a caller with one clock.
  static Call at(Ticks instant) { return {.now = instant, .wall = instant}; }
};

struct Outcome {
  bool admitted = false;
  Cost remaining = 0;                // the largest cost that would pass right after this step
  std::optional<Ticks> retry_after;  // 0 when admitted; absent: this cost can pass at no time
  Ticks reset_after = 0;             // until the state equals "never used"
  std::optional<Ticks> next_after;   // until `remaining` grows by one; absent at full capacity, and where only the
                                     // end of other requests makes room
  Ticks delay = 0;                   // of an admitted request: how long it has to wait in line
  Ticks at = 0;                      // the instant that was charged, in the limit's own time; for give_back

  bool operator==(const Outcome&) const = default;
};

}  // namespace weir::limit
