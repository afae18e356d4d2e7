// SPDX-License-Identifier: Apache-2.0
#include "weir/policy/limit_builder.h"

#include <algorithm>
#include <utility>

namespace weir::policy {
namespace {

using config::Algorithm;
using limit::Cost;

template <class A>
std::optional<limit::Limit> as_limit(Result<A> made) {
  if (!made) return std::nullopt;
  return limit::Limit(*std::move(made));
}

// A rate of 0 is a bucket that holds nothing; how fast it would refill does not matter.
std::optional<limit::Limit> bucket(const config::Rate& rate, Cost capacity, Cost debt) {
  return as_limit(limit::TokenBucket::create({.count = std::max<std::int64_t>(rate.count, 1),
                                              .period = rate.period.count(),
                                              .capacity = capacity,
                                              .debt = debt}));
}

std::optional<limit::Limit> leaky(const config::Limit& limit, const config::Rate& rate, Cost capacity, Cost debt) {
  if (limit.queue == 0 || rate.count == 0) return bucket(rate, rate.count == 0 ? 0 : capacity, debt);
  return as_limit(limit::LeakyBucket::create(
      {.count = rate.count, .period = rate.period.count(), .queue = limit.queue, .undelayed = limit.undelayed}));
}

limit::CivilCalendar::Unit unit_of(config::CivilUnit civil) {
  switch (civil) {
    case config::CivilUnit::kWeek:
      return limit::CivilCalendar::Unit::kWeek;
    case config::CivilUnit::kMonth:
      return limit::CivilCalendar::Unit::kMonth;
    case config::CivilUnit::kYear:
      return limit::CivilCalendar::Unit::kYear;
    case config::CivilUnit::kNone:
    case config::CivilUnit::kDay:
      break;
  }
  return limit::CivilCalendar::Unit::kDay;
}

std::optional<limit::Limit> quota(const config::Limit& limit, const config::Rate& rate, Cost capacity, Cost debt) {
  const auto calendar = limit::CivilCalendar::create({.unit = unit_of(rate.civil),
                                                      .zone = limit.calendar.zone,
                                                      .anchor_day = limit.calendar.anchor_day,
                                                      .week_starts = limit.calendar.week_starts});
  if (!calendar) return std::nullopt;
  return as_limit(limit::CalendarQuota::create({.capacity = capacity, .debt = debt}, *calendar));
}

}  // namespace

std::optional<limit::Limit> build_limit(const config::Limit& limit, const config::Rate& rate, Cost capacity) {
  // What an answer turns out to cost may take a limit below empty, by as much as it holds.
  const Cost debt = std::holds_alternative<config::ResponseCost>(limit.cost) ? capacity : 0;
  const limit::Ticks period = rate.period.count();
  const limit::Alignment alignment{.window = period, .jitter = limit.jitter};
  switch (limit.algorithm) {
    case Algorithm::kTokenBucket:
      return bucket(rate, capacity, debt);
    case Algorithm::kFixedWindow:
      return as_limit(limit::FixedWindow::create({.capacity = capacity, .alignment = alignment, .debt = debt}));
    case Algorithm::kSlidingWindow:
      return as_limit(limit::SlidingWindow::create({.capacity = capacity, .alignment = alignment, .debt = debt}));
    case Algorithm::kSlidingLog:
      return as_limit(limit::SlidingLog::create({.capacity = capacity, .window = period, .debt = debt}));
    case Algorithm::kLeakyBucket:
      return leaky(limit, rate, capacity, debt);
    case Algorithm::kConcurrency:
      return as_limit(limit::Concurrency::create({.capacity = rate.count, .lease = limit.lease.count()}));
    case Algorithm::kCalendar:
      return quota(limit, rate, capacity, debt);
  }
  return std::nullopt;
}

}  // namespace weir::policy
