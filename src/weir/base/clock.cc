// SPDX-License-Identifier: Apache-2.0
#include "weir/base/clock.h"

#include <ctime>

namespace weir {
namespace {

nanoseconds read(clockid_t id) {
  timespec ts{};
  ::clock_gettime(id, &ts);
  return std::chrono::seconds(ts.tv_sec) + nanoseconds(ts.tv_nsec);
}

}  // namespace

Instant SystemClock::now() const { return Instant(read(CLOCK_MONOTONIC)); }
WallTime SystemClock::wall() const { return WallTime(read(CLOCK_REALTIME)); }

}  // namespace weir
