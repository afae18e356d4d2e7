// SPDX-License-Identifier: Apache-2.0
//
// Random limits of each algorithm, over the whole ranges of their numbers.
// Thread safety: one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <random>
#include <string>

#include "weir/limit/limit.h"
#include "weir/limit/ranges.h"

namespace weir::limit {

using Random = std::mt19937_64;

enum class Kind {
  kTokenBucket,
  kFixedWindow,
  kSlidingWindow,
  kSlidingLog,
  kLeakyBucket,
  kConcurrency,
  kCalendarQuota
};

inline const char* name_of(Kind kind) {
  constexpr const char* kNames[] = {"TokenBucket", "FixedWindow", "SlidingWindow", "SlidingLog",
                                    "LeakyBucket", "Concurrency", "CalendarQuota"};
  return kNames[static_cast<int>(kind)];
}

inline std::int64_t between(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}
inline bool one_in(Random& random, int count) { return between(random, 1, count) == 1; }

// From 1 to `high`; every order of magnitude is as likely.
inline std::int64_t spread(Random& random, std::int64_t high) {
  std::int64_t bound = 1;
  const std::int64_t digits = between(random, 0, static_cast<std::int64_t>(std::to_string(high).size()) - 1);
  for (std::int64_t i = 0; i < digits; ++i) bound *= 10;
  return between(random, 1, std::min(high, bound <= high / 10 ? bound * 10 : high));
}

// 0 and 1 more often than others.
inline Cost random_capacity(Random& random, Cost most) {
  switch (between(random, 0, 7)) {
    case 0:
      return 0;
    case 1:
      return 1;
    case 2:
    case 3:
      return between(random, 0, std::min<Cost>(10, most));
    default:
      return spread(random, most);
  }
}

inline Ticks random_second(Random& random) {
  constexpr Ticks kSecond[] = {1, 1000, 1'000'000, 1'000'000'000};
  return kSecond[between(random, 0, 3)];
}

// From 1 ms to 400 days, whole seconds or any ticks.
inline Ticks random_period(Random& random, Ticks second) {
  if (one_in(random, 3)) return std::max<Ticks>(1, spread(random, 60'000) * second / 1000);
  return std::max<Ticks>(spread(random, 400 * 86'400) * second / between(random, 1, 3), 1);
}

inline Cost random_debt(Random& random, Cost capacity) {
  return one_in(random, 2) ? capacity : between(random, 0, 1) * spread(random, 1000);
}

struct Rate {
  std::int64_t count;
  Ticks period;
};

// From one a month to two in a nanosecond.
inline Rate random_rate(Random& random, Ticks second) {
  switch (between(random, 0, 9)) {
    case 0:
      return {1, 30 * 86'400 * second};
    case 1:
      return {2'000'000'000, second};
    case 2:
      return {spread(random, kMaxUnits), random_period(random, second)};
    case 3:
    case 4:
      return {spread(random, 1'000'000), second};
    default:
      return {spread(random, 20), random_period(random, second)};
  }
}

inline Alignment random_alignment(Random& random, Ticks second) {
  Alignment alignment{.window = random_period(random, second)};
  if (one_in(random, 3)) alignment.offset = between(random, 0, alignment.window - 1);
  alignment.jitter = one_in(random, 3);
  return alignment;
}

inline CivilCalendar::Rules random_rules(Random& random) {
  constexpr const char* kZones[] = {"UTC", "Europe/Berlin", "Africa/Cairo", "America/Havana", "Asia/Kathmandu"};
  return {.unit = static_cast<CivilCalendar::Unit>(between(random, 0, 3)),
          .zone = kZones[between(random, 0, 4)],
          .anchor_day = static_cast<int>(between(random, 1, 31)),
          .week_starts = std::chrono::weekday(static_cast<unsigned>(between(random, 0, 6)))};
}

template <class A>
std::optional<Limit> made(const Result<A>& result) {
  return result ? std::optional<Limit>(*result) : std::nullopt;
}

// Nothing when the numbers do not go together.
inline std::optional<Limit> try_limit(Kind kind, Random& random, Ticks second) {
  const auto [count, period] = random_rate(random, second);
  const Cost capacity = random_capacity(random, 1'000'000'000);
  const Cost debt = random_debt(random, capacity);
  switch (kind) {
    case Kind::kTokenBucket:
      return made(TokenBucket::create({count, period, capacity, second, debt}));
    case Kind::kFixedWindow:
      return made(FixedWindow::create({capacity, random_alignment(random, second), second, debt}));
    case Kind::kSlidingWindow:
      return made(SlidingWindow::create({capacity, random_alignment(random, second), second, debt}));
    case Kind::kSlidingLog:
      return made(SlidingLog::create(
          {random_capacity(random, SlidingLog::kMaxCapacity), random_period(random, second), second, debt}));
    case Kind::kLeakyBucket:
      return made(LeakyBucket::create({count, period, capacity, between(random, 0, capacity), second}));
    case Kind::kConcurrency:
      return made(Concurrency::create(
          {random_capacity(random, Concurrency::kMaxCapacity), random_period(random, second), second}));
    case Kind::kCalendarQuota:
      break;
  }
  return made(CalendarQuota::create({capacity, second, debt}, CivilCalendar::create(random_rules(random)).value()));
}

inline Limit random_limit(Kind kind, Random& random, Ticks second) {
  for (;;) {
    if (auto limit = try_limit(kind, random, second)) return *limit;
  }
}

}  // namespace weir::limit
