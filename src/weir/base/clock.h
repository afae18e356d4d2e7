// SPDX-License-Identifier: Apache-2.0
//
// Time. Monotonic instants and calendar time are different types, so that they cannot be mixed; both have a
// grain of one nanosecond. Code that decides takes `now` as an argument; only the event loop, main and the
// benchmarks hold a Clock.
#pragma once

#include <chrono>

namespace weir {

using std::chrono::nanoseconds;

// A clock that never goes back and has no relation to the calendar.
struct MonotonicTimeline {
  using rep = nanoseconds::rep;
  using period = nanoseconds::period;
  using duration = nanoseconds;
  using time_point = std::chrono::time_point<MonotonicTimeline>;
  static constexpr bool is_steady = true;
};

using Instant = MonotonicTimeline::time_point;
using WallTime = std::chrono::sys_time<nanoseconds>;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant now() const = 0;
  virtual WallTime wall() const = 0;
};

// The operating system's clocks. Thread safe.
class SystemClock final : public Clock {
 public:
  Instant now() const override;
  WallTime wall() const override;
};

// A clock that stands still until it is told to move. Not thread safe.
class ManualClock final : public Clock {
 public:
  Instant now() const override { return now_; }
  WallTime wall() const override { return wall_; }
  void advance(nanoseconds by) {
    now_ += by;
    wall_ += by;
  }

 private:
  Instant now_{std::chrono::hours(1)};
  WallTime wall_{std::chrono::seconds(1'796'000'000)};
};

}  // namespace weir
