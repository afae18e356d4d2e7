// SPDX-License-Identifier: Apache-2.0
//
// When keys are fetched again: regularly, soon after a failure and then ever more rarely, and at once when a token
// names a key that is not there, but not often, so that nobody can make the gateway hammer a server. All times are
// spread by a tenth. Thread safety: one thread. Reads no clock.
#pragma once

#include <cstdint>
#include <optional>

#include "weir/base/clock.h"

namespace weir::gateway {

class RefreshSchedule {
 public:
  static constexpr nanoseconds kBetweenMisses = std::chrono::seconds(30);
  static constexpr nanoseconds kFirstRetry = std::chrono::seconds(1);

  RefreshSchedule(nanoseconds period, std::uint64_t seed) : period_(period), random_(seed | 1) {}

  // When the next fetch is due; before the first one: at once.
  Instant due() const { return due_; }
  void done(bool success, Instant now);
  // A key is missing: brings the next fetch forward.
  void missed(Instant now);

 private:
  nanoseconds spread(nanoseconds time);

  nanoseconds period_;
  std::uint64_t random_;
  int failures_ = 0;
  Instant due_{};                     // the clock's beginning: long past
  std::optional<Instant> last_miss_;  // that brought a fetch forward
};

}  // namespace weir::gateway
