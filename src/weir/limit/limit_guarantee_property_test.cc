// SPDX-License-Identifier: Apache-2.0
//
// What each algorithm guarantees about the sum of what it admits, in every interval of random traces.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "weir/limit/testing/period_model.h"
#include "weir/limit/testing/random_trace.h"
#include "weir/limit/testing/subject.h"

namespace weir::limit {
namespace {

using Wide = __int128;

struct Guarantee : LimitProperty {};
struct SwingingClock : LimitProperty {};

INSTANTIATE_TEST_SUITE_P(Every, Guarantee, every_kind(), name_of_param);
// Leases limit what is held, not how often.
INSTANTIATE_TEST_SUITE_P(Every, SwingingClock,
                         testing::Values(Kind::kTokenBucket, Kind::kFixedWindow, Kind::kSlidingWindow,
                                         Kind::kSlidingLog, Kind::kLeakyBucket, Kind::kCalendarQuota),
                         name_of_param);

struct Admitted {
  Call call;
  Cost cost;
  Ticks delay;
};
using Log = std::vector<Admitted>;

// What was admitted in the half-open interval of `length` that ends with the newest.
Wide trailing(const Log& log, Ticks length) {
  Wide sum = 0;
  for (auto entry = log.rbegin(); entry != log.rend() && entry->call.now > log.back().call.now - length; ++entry) {
    sum += entry->cost;
  }
  return sum;
}

// What was admitted in the newest's period.
template <class Periods>
Wide in_period(const Log& log, const Periods& periods) {
  const auto start = [&](const Admitted& entry) { return periods.start_of(entry.call, entry.call.wall); };
  Wide sum = 0;
  for (const Admitted& entry : log) sum += start(entry) == start(log.back()) ? entry.cost : 0;
  return sum;
}

void expect_rate(const Log& log, Rate rate, Cost burst) {
  Wide sum = 0;
  for (auto from = log.rbegin(); from != log.rend(); ++from) {
    sum += from->cost;
    ASSERT_TRUE(sum <= burst + Wide{log.back().call.now - from->call.now} * rate.count / rate.period);
  }
}

// The guarantee, of all intervals that end with the newest entry.
struct Expect {
  const Log& log;

  void operator()(const TokenBucket& limit) const {
    expect_rate(log, {limit.numbers().count, limit.numbers().period}, limit.capacity());
  }
  void operator()(const FixedWindow& limit) const {
    ASSERT_TRUE(in_period(log, AlignedPeriods{limit.numbers().alignment}) <= limit.capacity());
    ASSERT_TRUE(trailing(log, limit.numbers().alignment.window) <= 2 * limit.capacity());
  }
  void operator()(const SlidingWindow& limit) const {
    ASSERT_TRUE(trailing(log, limit.numbers().alignment.window) <= 2 * limit.capacity() - 1);
    ASSERT_TRUE(in_period(log, AlignedPeriods{limit.numbers().alignment}) <= limit.capacity());
  }
  void operator()(const SlidingLog& limit) const {
    ASSERT_TRUE(trailing(log, limit.numbers().window) <= limit.capacity());
  }
  void operator()(const LeakyBucket& limit) const {
    expect_rate(log, {limit.numbers().count, limit.numbers().period}, limit.capacity());
    expect_apart(limit.numbers());
  }
  void operator()(const Concurrency& limit) const {
    ASSERT_TRUE(trailing_of_different_leases(limit.numbers().lease) <= limit.capacity());
  }
  void operator()(const CalendarQuota& limit) const {
    const CivilPeriods periods{limit.calendar(), limit.numbers().ticks_per_second};
    ASSERT_TRUE(in_period(log, periods) <= limit.capacity());
  }

 private:
  static Ticks start(const Admitted& entry) { return entry.call.now + entry.delay; }

  // Whoever had to wait is followed at a distance; if nobody may pass undelayed, everybody is.
  void expect_apart(const LeakyBucket::Numbers& numbers) const {
    if (log.size() < 2) return;
    const Admitted& last = log.back();
    for (std::size_t i = log.size() - 1; i-- > 0;) {
      if (log[i].delay == 0 && numbers.undelayed > 0) continue;
      const auto places = static_cast<Wide>(log.size() - 1 - i);
      ASSERT_TRUE(start(last) - start(log[i]) >= places * numbers.period / numbers.count);
    }
  }
  // Nobody gives anything back here.
  Wide trailing_of_different_leases(Ticks lease) const {
    Log different;
    for (const Admitted& entry : log) {
      const auto is_alive = [&](const Admitted& other) {
        return other.call.lease == entry.call.lease && entry.call.now < other.call.now + lease;
      };
      if (std::ranges::none_of(different, is_alive)) different.push_back(entry);
    }
    return trailing(different, lease);
  }
};

TEST_P(Guarantee, HoldsInEveryIntervalWhileTheClockGoesOn) {
  for_each_trace([](const Limit& limit, RandomTrace& trace) {
    Subject subject(limit);
    Log log;
    Outcome last;
    for (std::int64_t i = 0; i < kStepsPerTrace && !HasFatalFailure(); ++i, trace.advance(last)) {
      const Cost cost = trace.cost(last);
      last = subject.step(trace.call(), cost);
      if (!last.admitted || cost == 0) continue;
      log.push_back({trace.call(), cost, last.delay});
      std::visit(Expect{log}, limit.algorithm());
    }
  });
}

// The most that may pass between two instants, whatever the clock does between them.
struct MostBetween {
  Call first;
  Call last;

  static Wide windows(Ticks from, Ticks to, Ticks window) {
    return Wide{floored(to, window)} - floored(from, window);
  }
  static Wide of_rate(const auto& numbers, Cost capacity, Ticks span) {
    return capacity + Wide{span} * numbers.count / numbers.period;
  }
  Wide of_alignment(const Alignment& alignment, Cost capacity) const {
    const AlignedPeriods periods{alignment};
    const Ticks apart = periods.start_of(last, last.wall) - periods.start_of(first, first.wall);
    return (1 + Wide{apart / alignment.window}) * capacity;
  }
  Wide operator()(const TokenBucket& limit) const {
    return of_rate(limit.numbers(), limit.capacity(), last.now - first.now);
  }
  Wide operator()(const LeakyBucket& limit) const {
    return of_rate(limit.numbers(), limit.capacity(), last.now - first.now);
  }
  Wide operator()(const FixedWindow& limit) const {
    return of_alignment(limit.numbers().alignment, limit.capacity());
  }
  Wide operator()(const SlidingWindow& limit) const {
    return of_alignment(limit.numbers().alignment, limit.capacity());
  }
  Wide operator()(const SlidingLog& limit) const {
    return (1 + Wide{(last.now - first.now) / limit.numbers().window}) * limit.capacity();
  }
  Wide operator()(const Concurrency&) const { return 0; }
  Wide operator()(const CalendarQuota& limit) const {
    Wide periods = 1;
    const Ticks second = limit.numbers().ticks_per_second;
    for (std::int64_t at = first.wall / second; limit.calendar().period_of(at).end <= last.wall / second; ++periods) {
      at = limit.calendar().period_of(at).end;
    }
    return periods * limit.capacity();
  }
};

TEST_P(SwingingClock, AClockThatSwingsGivesNoMoreThanItsWholeSpan) {
  for_each_trace([](const Limit& limit, RandomTrace& trace) {
    Subject subject(limit);
    Outcome last;
    Ticks latest = trace.now();
    Wide sum = 0;
    for (std::int64_t i = 0; i < kStepsPerTrace; ++i) {
      const Ticks now = trace.now() + between(trace.random(), 0, 60 * trace.second());  // never enough for a repair
      const Cost cost = trace.cost(last);
      Call call = trace.at(now);
      call.lease = {.low = static_cast<std::uint64_t>(i + 1)};
      last = subject.step(call, cost);
      latest = std::max(latest, now);
      if (last.admitted) sum += cost;
      ASSERT_TRUE(sum <= std::visit(MostBetween{trace.call(), trace.at(latest)}, limit.algorithm()));
    }
  });
}

// The same limit with `factor` times as many ticks in a second.
struct Finer {
  std::int64_t factor;

  Limit operator()(const TokenBucket& limit) const {
    auto numbers = limit.numbers();
    refine(numbers);
    return TokenBucket::create(numbers).value();
  }
  Limit operator()(const LeakyBucket& limit) const {
    auto numbers = limit.numbers();
    refine(numbers);
    return LeakyBucket::create(numbers).value();
  }
  Limit operator()(const FixedWindow& limit) const { return aligned<FixedWindow>(limit.numbers()); }
  Limit operator()(const SlidingWindow& limit) const { return aligned<SlidingWindow>(limit.numbers()); }
  Limit operator()(const SlidingLog& limit) const {
    auto numbers = limit.numbers();
    numbers.window *= factor;
    numbers.ticks_per_second *= factor;
    return SlidingLog::create(numbers).value();
  }
  Limit operator()(const Concurrency& limit) const {
    auto numbers = limit.numbers();
    numbers.lease *= factor;
    numbers.ticks_per_second *= factor;
    return Concurrency::create(numbers).value();
  }
  Limit operator()(const CalendarQuota& limit) const {
    auto numbers = limit.numbers();
    numbers.ticks_per_second *= factor;
    return CalendarQuota::create(numbers, limit.calendar()).value();
  }

 private:
  // Reduced, a period may be below the millisecond that a rate must be written with.
  void refine(auto& numbers) const {
    const std::int64_t second = numbers.ticks_per_second;
    const std::int64_t whole =
        numbers.period >= second ? 1 : (second + 1000 * numbers.period - 1) / (1000 * numbers.period);
    numbers.count *= whole;
    numbers.period *= whole * factor;
    numbers.ticks_per_second *= factor;
  }
  template <class A>
  Limit aligned(typename A::Numbers numbers) const {
    numbers.alignment.window *= factor;
    numbers.alignment.offset *= factor;
    numbers.ticks_per_second *= factor;
    return A::create(numbers).value();
  }
};

TEST_P(Guarantee, AFinerTickChangesNoAdmission) {
  for_each_trace([](const Limit& limit, RandomTrace& trace) {
    const std::int64_t factor = trace.second() == 1'000'000'000 ? 1 : between(trace.random(), 2, 1000);
    const auto finer_call = [factor](Call call) {
      call.now *= factor;
      call.wall *= factor;
      return call;
    };
    const auto scales = [factor](Ticks coarse, Ticks fine) { return (fine + factor - 1) / factor == coarse; };
    Subject subject(limit);
    Subject finer(std::visit(Finer{factor}, limit.algorithm()));
    const bool fits = trace.second() * factor <= kMaxTicksPerSecond;
    Outcome last;
    for (std::int64_t i = 0; i < kStepsPerTrace && fits; ++i, trace.move(last)) {
      Call call = trace.call();
      call.phase = 0;  // an offset from the phase is counted in ticks
      const Cost cost = trace.cost(last);
      last = subject.step(call, cost);
      const Outcome fine = finer.step(finer_call(call), cost);
      ASSERT_EQ(last.admitted, fine.admitted);
      ASSERT_EQ(last.remaining, fine.remaining);
      ASSERT_TRUE(scales(last.retry_after.value_or(0), fine.retry_after.value_or(0)));
      ASSERT_TRUE(scales(last.reset_after, fine.reset_after));
      ASSERT_TRUE(scales(last.next_after.value_or(0), fine.next_after.value_or(0)));
      ASSERT_TRUE(scales(last.delay, fine.delay));
    }
  });
}

}  // namespace
}  // namespace weir::limit
