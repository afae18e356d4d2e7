// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/refresh_schedule.h"

#include <algorithm>

namespace weir::gateway {
namespace {

constexpr int kMostDoublings = 10;

}  // namespace

void RefreshSchedule::done(bool success, Instant now) {
  failures_ = success ? 0 : std::min(failures_ + 1, kMostDoublings);
  const nanoseconds retry = kFirstRetry * (1 << std::max(failures_ - 1, 0));
  due_ = now + spread(success ? period_ : std::min(retry, period_));
}

void RefreshSchedule::missed(Instant now) {
  const Instant earliest = last_miss_ ? std::max(now, *last_miss_ + kBetweenMisses) : now;
  if (earliest >= due_) return;
  due_ = earliest;
  last_miss_ = earliest;
}

// From nine to eleven tenths: xorshift64, which is enough to part gateways that started together.
nanoseconds RefreshSchedule::spread(nanoseconds time) {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  constexpr std::uint64_t kSteps = 2001;
  const auto parts = static_cast<std::int64_t>(9000 + random_ % kSteps);
  return time / 10'000 * parts;
}

}  // namespace weir::gateway
