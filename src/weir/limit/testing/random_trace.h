// SPDX-License-Identifier: Apache-2.0
//
// Random traces: instants and costs that find the edges of a limit, around its waits and its capacity.
// WEIR_PROPERTY_STEPS sets the number of steps for each property and algorithm, WEIR_PROPERTY_SEED the seed.
// Thread safety: one thread.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <variant>

#include "weir/limit/testing/failed_seeds.h"
#include "weir/limit/testing/random_limits.h"

namespace weir::limit {

constexpr std::int64_t kStepsPerTrace = 50;

inline std::int64_t from_environment(const char* name, std::int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

// How long it takes until something happens: P/N, W or a day.
struct PaceOf {
  Ticks operator()(const TokenBucket& limit) const { return limit.numbers().period / limit.numbers().count; }
  Ticks operator()(const LeakyBucket& limit) const { return limit.numbers().period / limit.numbers().count; }
  Ticks operator()(const FixedWindow& limit) const { return limit.numbers().alignment.window; }
  Ticks operator()(const SlidingWindow& limit) const { return limit.numbers().alignment.window; }
  Ticks operator()(const SlidingLog& limit) const { return limit.numbers().window; }
  Ticks operator()(const Concurrency& limit) const { return limit.numbers().lease; }
  Ticks operator()(const CalendarQuota& limit) const { return 86'400 * limit.numbers().ticks_per_second; }
};

class RandomTrace {
 public:
  RandomTrace(const Limit& limit, Random& random, Ticks second)
      : limit_(limit),
        random_(random),
        second_(second),
        pace_(std::visit(PaceOf{}, limit.algorithm())),
        wall_(one_in(random, 3) ? 0 : between(random, 0, 60 * 365 * 86'400) * second),
        phase_(random()) {
    if (one_in(random, 3)) now_ = between(random, 0, 7200) * second;
  }

  Call call() const { return at(now_); }
  Call at(Ticks now) const { return {.now = now, .wall = wall_ + now, .phase = phase_, .lease = lease_}; }
  Call after(Ticks wait) const { return at(now_ + wait); }
  Ticks now() const { return now_; }
  Ticks second() const { return second_; }
  Random& random() { return random_; }

  // Goes on, never back.
  void advance(const Outcome& last) {
    const Ticks next = now_ + std::max<Ticks>(0, step_after(last));
    if (next <= kMaxNowSeconds * second_) now_ = next;
    name();
  }
  // Goes on, or back now and then.
  void move(const Outcome& last) {
    if (!one_in(random_, 10)) return advance(last);
    now_ = swung();
    name();
  }
  // An instant up to ten minutes away.
  Ticks swung() {
    const Ticks most = 600 * second_;
    const Ticks by = between(random_, -most, most) / spread(random_, 10'000);
    return std::clamp<Ticks>(now_ + by, 0, kMaxNowSeconds * second_);
  }

  Cost cost(const Outcome& last) {
    if (limit_.holds<LeakyBucket>()) return between(random_, 0, 4) == 0 ? 0 : 1;
    switch (between(random_, 0, 5)) {
      case 0:
        return 1;
      case 1:
        return last.remaining;
      case 2:
        return last.remaining + 1;
      case 3:
        return between(random_, 0, 2);
      case 4:
        return between(random_, 0, std::max<Cost>(1, last.remaining / 3));
      default:
        return between(random_, 0, limit_.capacity() + 1);
    }
  }

 private:
  Ticks step_after(const Outcome& last) {
    switch (between(random_, 0, 7)) {
      case 0:
      case 1:
        return 0;
      case 2:
        return last.retry_after.value_or(0);
      case 3:
        return last.retry_after.value_or(1) - 1;
      case 4:
        return last.next_after.value_or(1);
      case 5:
        return between(random_, 0, last.reset_after + 1);
      case 6:
        return last.reset_after - between(random_, 0, 1);
      default:
        return spread(random_, 2 * pace_ + 10);
    }
  }
  // Of the lease that the next call wants: often a new one, sometimes one that is known.
  void name() {
    lease_ = {.low = static_cast<std::uint64_t>(between(random_, 1, one_in(random_, 2) ? 1'000'000 : 9))};
  }

  const Limit& limit_;
  Random& random_;
  Ticks second_;
  Ticks pace_;
  Ticks wall_;
  std::uint64_t phase_;
  Ticks now_ = 0;
  LeaseId lease_{.low = 1};
};

class LimitProperty : public testing::TestWithParam<Kind> {
 protected:
  // Calls `run(limit, trace)` for random limits of the algorithm, until there are enough steps.
  template <class Run>
  static void for_each_trace(Run run) {
    const std::string property = testing::UnitTest::GetInstance()->current_test_info()->name();
    for (const FailedSeed& failed : kFailedSeeds) {
      if (property.starts_with(failed.property) && failed.kind == GetParam()) run_one(failed.seed, run);
    }
    const auto seed = static_cast<std::uint64_t>(from_environment("WEIR_PROPERTY_SEED", 1)) * 1'000'003;
    const std::int64_t traces = from_environment("WEIR_PROPERTY_STEPS", 100'000) / kStepsPerTrace;
    for (std::int64_t i = 0; i < traces && !HasFailure(); ++i) run_one(seed + static_cast<std::uint64_t>(i), run);
  }

 private:
  template <class Run>
  static void run_one(std::uint64_t seed, Run run) {
    SCOPED_TRACE(std::string(name_of(GetParam())) + ", trace seed " + std::to_string(seed));
    Random random(seed);
    const Ticks second = random_second(random);
    const Limit limit = random_limit(GetParam(), random, second);
    RandomTrace trace(limit, random, second);
    run(limit, trace);
  }
};

inline auto every_kind() {
  return testing::Values(Kind::kTokenBucket, Kind::kFixedWindow, Kind::kSlidingWindow, Kind::kSlidingLog,
                         Kind::kLeakyBucket, Kind::kConcurrency, Kind::kCalendarQuota);
}

inline std::string name_of_param(const testing::TestParamInfo<Kind>& info) { return name_of(info.param); }

}  // namespace weir::limit
