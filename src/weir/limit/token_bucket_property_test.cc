// SPDX-License-Identifier: Apache-2.0
//
// The token bucket against other ways to say the same thing, and its two encodings against each other.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <variant>

#include "weir/limit/gcra.h"
#include "weir/limit/testing/random_trace.h"
#include "weir/limit/testing/subject.h"
#include "weir/limit/token_bucket.h"

namespace weir::limit {
namespace {

using Fraction = boost::multiprecision::cpp_rational;

struct TokenBucketProperty : LimitProperty {};

INSTANTIATE_TEST_SUITE_P(Every, TokenBucketProperty, testing::Values(Kind::kTokenBucket), name_of_param);

Cost whole(const Fraction& value) {
  return static_cast<Cost>(boost::multiprecision::cpp_int(numerator(value) / denominator(value)));  // value >= 0
}

// Tokens drop in at a steady rate and are taken out; the bucket overflows.
struct ClassicBucket {
  Fraction rate;
  Fraction capacity;
  Fraction tokens = capacity;
  Ticks last = 0;

  bool step(Ticks now, Cost cost) {
    tokens = std::min<Fraction>(capacity, tokens + rate * (now - last));
    last = now;
    if (tokens < cost) return false;
    tokens -= cost;
    return true;
  }
};

// Water is poured in and leaks out at a steady rate; the bucket must not overflow.
struct LeakyMeter {
  Fraction rate;
  Fraction capacity;
  Fraction level = 0;
  Ticks last = 0;

  bool step(Ticks now, Cost cost) {
    level = std::max<Fraction>(0, level - rate * (now - last));
    last = now;
    if (level + cost > capacity) return false;
    level += cost;
    return true;
  }
};

// Cells arrive at a steady rate, each not earlier than its theoretical arrival but for a tolerance; after ITU-T
// I.371.
struct CellRate {
  Fraction rate;
  Fraction capacity;
  Fraction arrival = 0;

  bool step(Ticks now, Cost cost) {
    if (cost > capacity) return false;
    const Fraction tolerance = (capacity - cost) / rate;
    if (Fraction(now) < arrival - tolerance) return false;
    if (cost > 0) arrival = std::max<Fraction>(arrival, now) + cost / rate;
    return true;
  }
};

TEST_P(TokenBucketProperty, IsAClassicBucketALeakyMeterAndACellRate) {
  for_each_trace([](const Limit& limit, RandomTrace& trace) {
    const auto& numbers = std::get<TokenBucket>(limit.algorithm()).numbers();
    const Fraction rate(numbers.count, numbers.period);
    ClassicBucket classic{rate, numbers.capacity};
    LeakyMeter meter{rate, numbers.capacity};
    CellRate cells{rate, numbers.capacity};
    Subject subject(limit);
    Outcome last;
    for (std::int64_t i = 0; i < kStepsPerTrace; ++i, trace.advance(last)) {
      const Cost cost = trace.cost(last);
      last = subject.step(trace.call(), cost);
      ASSERT_EQ(last.admitted, classic.step(trace.now(), cost));
      ASSERT_EQ(last.admitted, meter.step(trace.now(), cost));
      ASSERT_EQ(last.admitted, cells.step(trace.now(), cost));
      ASSERT_EQ(last.remaining, whole(classic.tokens));
    }
  });
}

template <class Int>
gcra::Bucket<Int> scaled(const TokenBucket::Numbers& numbers) {
  return {numbers.count,
          numbers.period,
          numbers.capacity,
          numbers.ticks_per_second,
          static_cast<Int>(gcra::Wide{numbers.capacity} * numbers.period),
          static_cast<Int>(gcra::Wide{numbers.debt} * numbers.period)};
}

TEST_P(TokenBucketProperty, BothEncodingsAgree) {
  for_each_trace([](const Limit& limit, RandomTrace& trace) {
    if (limit.state_words() != 1) return;
    const auto& numbers = std::get<TokenBucket>(limit.algorithm()).numbers();
    const auto narrow = scaled<std::int64_t>(numbers);
    const auto wide = scaled<gcra::Wide>(numbers);
    std::int64_t of_narrow = 0;
    gcra::Wide of_wide = 0;
    Outcome last;
    for (std::int64_t i = 0; i < kStepsPerTrace; ++i, trace.move(last)) {
      const Cost cost = trace.cost(last);
      Outcome other;
      gcra::step(narrow, of_narrow, trace.now(), cost, last);
      gcra::step(wide, of_wide, trace.now(), cost, other);
      ASSERT_EQ(last, other);
      if (one_in(trace.random(), 8)) {
        gcra::take(narrow, of_narrow, trace.now(), cost);
        gcra::take(wide, of_wide, trace.now(), cost);
      }
      if (last.admitted && one_in(trace.random(), 8)) {
        gcra::give_back(narrow, of_narrow, trace.now(), cost);
        gcra::give_back(wide, of_wide, trace.now(), cost);
      }
      ASSERT_TRUE(of_narrow == of_wide);
    }
  });
}

// used*P'/N' of the new numbers, rounded up to 1/N' tick: what carries on is neither more nor noticeably less.
TEST_P(TokenBucketProperty, OtherNumbersCarryTheExactAmount) {
  for_each_trace([](const Limit& limit, RandomTrace& trace) {
    const auto& old = std::get<TokenBucket>(limit.algorithm()).numbers();
    const Fraction rate(old.count, old.period);
    LeakyMeter meter{rate, old.capacity};
    Subject subject(limit);
    Outcome last;
    for (std::int64_t i = 0; i < kStepsPerTrace; ++i, trace.advance(last)) {
      const Cost cost = trace.cost(last);
      last = subject.step(trace.call(), cost);
      meter.step(trace.now(), cost);
      const Limit other = random_limit(GetParam(), trace.random(), trace.second());
      const auto& numbers = std::get<TokenBucket>(other.algorithm()).numbers();
      const Fraction used = std::min<Fraction>(numbers.capacity, meter.level);
      const Fraction ticks = used * numbers.period / numbers.count;
      const Ticks reset = subject.carried_to(other, trace.call()).peek(trace.call()).reset_after;
      ASSERT_EQ(reset, whole(ticks) + (ticks > whole(ticks) ? 1 : 0));
    }
  });
}

}  // namespace
}  // namespace weir::limit
