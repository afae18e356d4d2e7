// SPDX-License-Identifier: Apache-2.0
//
// What a token bucket promises, on random limits and random traces, against a leaky meter in exact fractions.
// WEIR_PROPERTY_STEPS sets the number of steps per property, WEIR_PROPERTY_SEED the seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <boost/multiprecision/cpp_int.hpp>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "weir/limit/gcra.h"
#include "weir/limit/token_bucket.h"

namespace weir::limit {
namespace {

using boost::multiprecision::cpp_int;
using Fraction = boost::multiprecision::cpp_rational;
using State = std::array<std::int64_t, 2>;
using Random = std::mt19937_64;

constexpr std::int64_t kStepsPerTrace = 100;

std::int64_t from_environment(const char* name, std::int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

std::int64_t traces() { return from_environment("WEIR_PROPERTY_STEPS", 100'000) / kStepsPerTrace; }

std::int64_t between(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

// Every order of magnitude up to `high` is as likely.
std::int64_t spread(Random& random, std::int64_t high) {
  std::int64_t bound = 1;
  const std::int64_t digits = between(random, 0, static_cast<std::int64_t>(std::to_string(high).size()) - 1);
  for (std::int64_t i = 0; i < digits; ++i) bound *= 10;
  return between(random, 1, std::min(high, bound <= high / 10 ? bound * 10 : high));
}

TokenBucket random_bucket(Random& random) {
  for (;;) {
    constexpr Ticks kSecond[] = {1, 1000, 1'000'000, 1'000'000'000};
    const Ticks second = kSecond[between(random, 0, 3)];
    const auto made =
        TokenBucket::create({.count = spread(random, between(random, 0, 1) == 0 ? 20 : 1'000'000'000'000),
                             .period = spread(random, 400 * 86'400) * second / between(random, 1, 3),
                             .capacity = spread(random, 1'000'000'000) - between(random, 0, 1),
                             .ticks_per_second = second});
    if (made) return *made;
  }
}

std::int64_t ceiling(const Fraction& value) {
  const cpp_int top = numerator(value);
  const cpp_int bottom = denominator(value);
  return static_cast<std::int64_t>((top + bottom - 1) / bottom);  // value >= 0
}

std::int64_t floored(const Fraction& value) {
  return static_cast<std::int64_t>(cpp_int(numerator(value) / denominator(value)));  // value >= 0
}

// A meter that leaks N units per P ticks and holds B; nothing is rounded but the answers.
class ExactMeter {
 public:
  explicit ExactMeter(const TokenBucket::Numbers& numbers)
      : numbers_(numbers), rate_(numbers.count, numbers.period), most_(numbers.capacity) {}

  Outcome step(Ticks now, Cost cost) {
    Fraction level = level_at(now);
    const bool jumped = level > most_ + rate_ * Fraction(60 * numbers_.ticks_per_second);
    if (jumped) level = most_;
    Outcome outcome;
    const Fraction excess = level + cost - most_;
    outcome.admitted = cost <= numbers_.capacity && excess <= 0;
    if (outcome.admitted) level += cost;
    if (cost > 0 && (outcome.admitted || jumped)) {
      level_ = level;
      at_ = now;
    }
    if (cost <= numbers_.capacity) outcome.retry_after = outcome.admitted ? 0 : ceiling(excess / rate_);
    outcome.remaining = level < most_ ? floored(most_ - level) : 0;
    outcome.reset_after = ceiling(level / rate_);
    if (outcome.remaining < numbers_.capacity) {
      outcome.next_after = ceiling((level + outcome.remaining + 1 - most_) / rate_);
    }
    return outcome;
  }

 private:
  Fraction level_at(Ticks now) const {
    const Fraction level = level_ - rate_ * (now - at_);
    return level > 0 ? level : Fraction(0);
  }

  TokenBucket::Numbers numbers_;
  Fraction rate_;
  Fraction most_;
  Fraction level_ = 0;
  Ticks at_ = 0;
};

// Random instants and costs that find the edges of a bucket: around its waits, and of about its capacity.
class Trace {
 public:
  Trace(Random& random, const TokenBucket& limit) : random_(random), limit_(limit) {}

  Ticks later(const Outcome& last) {
    switch (between(random_, 0, 5)) {
      case 0:
        return 0;
      case 1:
        return last.retry_after.value_or(0);
      case 2:
        return std::max<Ticks>(last.retry_after.value_or(1) - 1, 0);
      case 3:
        return last.next_after.value_or(1);
      case 4:
        return between(random_, 0, last.reset_after + 1);
      default:
        return spread(random_, 10 * limit_.numbers().period / limit_.numbers().count + 10);
    }
  }

  // Up to ten minutes back.
  Ticks swing(Ticks now) {
    const Ticks most = 600 * limit_.numbers().ticks_per_second;
    return std::max<Ticks>(now + between(random_, -most, most) / spread(random_, 10'000), 0);
  }

  Cost cost(const Outcome& last) {
    switch (between(random_, 0, 4)) {
      case 0:
        return 1;
      case 1:
        return last.remaining;
      case 2:
        return last.remaining + 1;
      case 3:
        return between(random_, 0, 2);
      default:
        return between(random_, 0, limit_.numbers().capacity + 1);
    }
  }

 private:
  Random& random_;
  const TokenBucket& limit_;
};

// Calls `run(limit, random)` for as many random limits as there are traces.
template <class Run>
void for_each_trace(Run run) {
  const auto seed = static_cast<std::uint64_t>(from_environment("WEIR_PROPERTY_SEED", 1));
  for (std::int64_t i = 0; i < traces() && !testing::Test::HasFailure(); ++i) {
    Random random(seed * 1'000'003 + static_cast<std::uint64_t>(i));
    const TokenBucket limit = random_bucket(random);
    const auto& [count, period, capacity, second] = limit.numbers();
    SCOPED_TRACE("trace " + std::to_string(i) + ": " + std::to_string(count) + " per " + std::to_string(period) +
                 ", " + std::to_string(capacity) + " at once, " + std::to_string(second) + " ticks per second");
    run(limit, random);
  }
}

Ticks last_instant(const TokenBucket& limit) {
  return TokenBucket::kMaxNowSeconds * limit.numbers().ticks_per_second;
}

TEST(TokenBucketProperty, EqualsAnExactMeterInEveryField) {
  for_each_trace([](const TokenBucket& limit, Random& random) {
    Trace trace(random, limit);
    ExactMeter meter(limit.numbers());
    State state{};
    Outcome last;
    Ticks now = 0;
    for (std::int64_t i = 0; i < kStepsPerTrace && now <= last_instant(limit); ++i) {
      const Cost cost = trace.cost(last);
      last = limit.step(state, now, cost);
      ASSERT_EQ(last, meter.step(now, cost)) << "step " << i << " at " << now << ", cost " << cost;
      now = between(random, 0, 9) == 0 ? trace.swing(now) : now + trace.later(last);
    }
  });
}

TEST(TokenBucketProperty, AdmitsInEveryIntervalAtMostTheBurstAndTheRate) {
  for_each_trace([](const TokenBucket& limit, Random& random) {
    const auto& [count, period, capacity, second] = limit.numbers();
    Trace trace(random, limit);
    std::vector<std::pair<Ticks, Cost>> admitted;
    State state{};
    Outcome last;
    Ticks now = 0;
    for (std::int64_t i = 0; i < kStepsPerTrace && now <= last_instant(limit); ++i, now += trace.later(last)) {
      const Cost cost = trace.cost(last);
      last = limit.step(state, now, cost);
      if (!last.admitted) continue;
      admitted.emplace_back(now, cost);
      __int128 sum = 0;
      for (auto from = admitted.rbegin(); from != admitted.rend(); ++from) {
        sum += from->second;
        ASSERT_TRUE(sum <= capacity + static_cast<__int128>(now - from->first) * count / period);
      }
    }
  });
}

TEST(TokenBucketProperty, ARefusalHoldsUntilRetryAfterAndNotLonger) {
  for_each_trace([](const TokenBucket& limit, Random& random) {
    Trace trace(random, limit);
    State state{};
    Outcome last;
    Ticks now = 0;
    for (std::int64_t i = 0; i < kStepsPerTrace && now <= last_instant(limit); ++i, now += trace.later(last)) {
      const Cost cost = trace.cost(last);
      const State before = state;
      last = limit.step(state, now, cost);
      if (last.admitted) continue;
      ASSERT_EQ(state, before);
      ASSERT_EQ(last.retry_after.has_value(), cost <= limit.numbers().capacity);
      if (!last.retry_after) continue;
      ASSERT_GE(*last.retry_after, 1);
      ASSERT_LE(last.next_after.value(), *last.retry_after);
      State copy = state;
      ASSERT_FALSE(limit.step(copy, now + *last.retry_after - 1, cost).admitted);
      ASSERT_TRUE(limit.step(copy, now + *last.retry_after, cost).admitted);
    }
  });
}

TEST(TokenBucketProperty, RemainingIsExactlyWhatPassesNowAndGrowsAtNextAfter) {
  for_each_trace([](const TokenBucket& limit, Random& random) {
    Trace trace(random, limit);
    State state{};
    Outcome last;
    Ticks now = 0;
    for (std::int64_t i = 0; i < kStepsPerTrace && now <= last_instant(limit); ++i, now += trace.later(last)) {
      last = limit.step(state, now, trace.cost(last));
      State copy = state;
      ASSERT_TRUE(limit.step(copy, now, last.remaining).admitted);
      copy = state;
      ASSERT_FALSE(limit.step(copy, now, last.remaining + 1).admitted);
      if (!last.next_after) continue;
      ASSERT_EQ(limit.step(copy, now + *last.next_after - 1, 0).remaining, last.remaining);
      ASSERT_GT(limit.step(copy, now + *last.next_after, 0).remaining, last.remaining);
    }
  });
}

TEST(TokenBucketProperty, PeeksMayStandAnywhereWithoutAnyEffect) {
  for_each_trace([](const TokenBucket& limit, Random& random) {
    Trace trace(random, limit);
    State state{};
    Outcome last;
    Ticks now = 0;
    for (std::int64_t i = 0; i < kStepsPerTrace && now <= last_instant(limit); ++i) {
      const State before = state;
      limit.step(state, trace.swing(now), 0);
      ASSERT_EQ(state, before);
      last = limit.step(state, now, trace.cost(last));
      now = between(random, 0, 9) == 0 ? trace.swing(now) : now + trace.later(last);
    }
  });
}

TEST(TokenBucketProperty, AfterResetAfterABucketIsAsGoodAsNew) {
  for_each_trace([](const TokenBucket& limit, Random& random) {
    Trace trace(random, limit);
    State state{};
    Outcome last;
    Ticks now = 0;
    for (std::int64_t i = 0; i < kStepsPerTrace && now <= last_instant(limit); ++i, now += trace.later(last)) {
      last = limit.step(state, now, trace.cost(last));
      ASSERT_TRUE(limit.is_initial(state, now + last.reset_after));
      ASSERT_EQ(last.reset_after == 0, limit.is_initial(state, now));
      if (last.reset_after > 0) {
        ASSERT_FALSE(limit.is_initial(state, now + last.reset_after - 1));
      }
    }
  });
}

TEST(TokenBucketProperty, AnEarlierClockNeverAdmitsWhatALaterOneRefuses) {
  for_each_trace([](const TokenBucket& limit, Random& random) {
    Trace trace(random, limit);
    State state{};
    Outcome last;
    Ticks now = 0;
    for (std::int64_t i = 0; i < kStepsPerTrace && now <= last_instant(limit); ++i, now += trace.later(last)) {
      const Cost cost = std::max<Cost>(trace.cost(last), 1);
      State copy = state;
      const bool earlier = limit.step(copy, std::min(now, trace.swing(now)), cost).admitted;
      last = limit.step(state, now, cost);
      ASSERT_TRUE(last.admitted || !earlier);
    }
  });
}

TEST(TokenBucketProperty, AClockThatSwingsGivesNoMoreThanItsWholeSpan) {
  for_each_trace([](const TokenBucket& limit, Random& random) {
    const auto& [count, period, capacity, second] = limit.numbers();
    Trace trace(random, limit);
    const Ticks earliest = between(random, 0, 1000) * second;
    State state{};
    Outcome last;
    Ticks latest = 0;
    __int128 sum = 0;
    for (std::int64_t i = 0; i < kStepsPerTrace; ++i) {
      const Ticks now = earliest + between(random, 0, 60 * second);  // never enough for a repair
      const Cost cost = trace.cost(last);
      last = limit.step(state, now, cost);
      latest = std::max(latest, now);
      if (last.admitted) sum += cost;
      ASSERT_TRUE(sum <= capacity + static_cast<__int128>(latest - earliest) * count / period);
    }
  });
}

TEST(TokenBucketProperty, BothEncodingsAgree) {
  for_each_trace([](const TokenBucket& limit, Random& random) {
    const auto& [count, period, capacity, second] = limit.numbers();
    if (limit.state_words() != 1) return;
    const gcra::Bucket<std::int64_t> narrow{count, period, capacity, second, capacity * period};
    const gcra::Bucket<gcra::Wide> wide{count, period, capacity, second, static_cast<gcra::Wide>(capacity) * period};
    Trace trace(random, limit);
    std::int64_t of_narrow = 0;
    gcra::Wide of_wide = 0;
    Outcome last;
    Ticks now = 0;
    for (std::int64_t i = 0; i < kStepsPerTrace && now <= last_instant(limit); ++i) {
      const Cost cost = trace.cost(last);
      Outcome other;
      gcra::step(narrow, of_narrow, now, cost, last);
      gcra::step(wide, of_wide, now, cost, other);
      ASSERT_EQ(last, other);
      ASSERT_TRUE(of_narrow == of_wide);
      now = between(random, 0, 9) == 0 ? trace.swing(now) : now + trace.later(last);
    }
  });
}

TEST(TokenBucketProperty, AFinerTickChangesNoAdmission) {
  for_each_trace([](const TokenBucket& limit, Random& random) {
    const auto [count, period, capacity, second] = limit.numbers();
    const std::int64_t factor = second == 1'000'000'000 ? 1 : between(random, 2, 1000);
    // Reduced, a period may be below the millisecond that a rate must be written with.
    const std::int64_t whole = period >= second ? 1 : (second + (1000 * period) - 1) / (1000 * period);
    const TokenBucket finer = TokenBucket::create({.count = count * whole,
                                                   .period = period * whole * factor,
                                                   .capacity = capacity,
                                                   .ticks_per_second = second * factor})
                                  .value();
    Trace trace(random, limit);
    State state{};
    State finer_state{};
    Outcome last;
    Ticks now = 0;
    const auto scales = [factor](Ticks coarse, Ticks fine) { return (fine + factor - 1) / factor == coarse; };
    for (std::int64_t i = 0; i < kStepsPerTrace && now <= last_instant(limit); ++i, now += trace.later(last)) {
      const Cost cost = trace.cost(last);
      last = limit.step(state, now, cost);
      const Outcome fine = finer.step(finer_state, now * factor, cost);
      ASSERT_EQ(last.admitted, fine.admitted);
      ASSERT_EQ(last.remaining, fine.remaining);
      ASSERT_TRUE(scales(last.retry_after.value_or(0), fine.retry_after.value_or(0)));
      ASSERT_TRUE(scales(last.reset_after, fine.reset_after));
      ASSERT_TRUE(scales(last.next_after.value_or(0), fine.next_after.value_or(0)));
    }
  });
}

TEST(TokenBucketProperty, WhatIsTakenAndGivenBackWasNeverTaken) {
  for_each_trace([](const TokenBucket& limit, Random& random) {
    Trace trace(random, limit);
    State state{};
    Outcome last;
    Ticks now = 0;
    for (std::int64_t i = 0; i < kStepsPerTrace && now <= last_instant(limit); ++i, now += trace.later(last)) {
      last = limit.step(state, now, trace.cost(last));
      State copy = state;
      const Cost cost = trace.cost(last);
      if (!limit.step(copy, now, cost).admitted) continue;
      limit.give_back(copy, now, cost);
      State untouched = state;
      ASSERT_EQ(limit.step(copy, now, 0), limit.step(untouched, now, 0));
    }
  });
}

TEST(TokenBucketProperty, OtherNumbersNeitherBlockLongerThanARefillNorHandOutABurst) {
  for_each_trace([](const TokenBucket& limit, Random& random) {
    Trace trace(random, limit);
    State state{};
    Outcome last;
    Ticks now = 0;
    for (std::int64_t i = 0; i < kStepsPerTrace / 10 && now <= last_instant(limit); ++i, now += trace.later(last)) {
      last = limit.step(state, now, trace.cost(last));
      TokenBucket other = random_bucket(random);
      while (other.numbers().ticks_per_second != limit.numbers().ticks_per_second) other = random_bucket(random);
      State carried{};
      other.carry(limit, state, carried, now);
      State emptied{};
      const Ticks refill = other.step(emptied, now, other.numbers().capacity).reset_after;
      const Outcome after = other.step(carried, now, 0);
      ASSERT_LE(after.reset_after, refill);
      ASSERT_LE(after.remaining,
                last.remaining + std::max<Cost>(0, other.numbers().capacity - limit.numbers().capacity));
    }
  });
}

}  // namespace
}  // namespace weir::limit
