// SPDX-License-Identifier: Apache-2.0
#include "weir/limit/token_bucket.h"

#include <gtest/gtest.h>

#include <array>

#include "weir/limit/limit.h"
#include "weir/limit/testing/subject.h"

namespace weir::limit {
namespace {

constexpr Ticks kMs = 1000;  // ticks per second
constexpr Ticks kDay = 86'400;

using State = std::array<std::int64_t, 2>;

TokenBucket bucket(const TokenBucket::Numbers& numbers) { return TokenBucket::create(numbers).value(); }

TEST(TokenBucketTest, NumbersOutOfRangeAreRefused) {
  constexpr auto kMost = kMaxUnits;
  const auto accepted = [](const TokenBucket::Numbers& numbers) { return TokenBucket::create(numbers).has_value(); };
  EXPECT_TRUE(accepted({.count = 1, .period = 1, .capacity = 1, .ticks_per_second = kMs}));
  EXPECT_FALSE(accepted({.count = 0, .period = 1, .capacity = 1, .ticks_per_second = kMs}));
  EXPECT_FALSE(accepted({.count = -1, .period = 1, .capacity = 1, .ticks_per_second = kMs}));
  EXPECT_TRUE(accepted({.count = kMost, .period = 1, .capacity = kMost, .ticks_per_second = kMs}));
  EXPECT_FALSE(accepted({.count = kMost + 1, .period = 1, .capacity = 1, .ticks_per_second = kMs}));
  EXPECT_FALSE(accepted({.count = 1, .period = 1, .capacity = -1, .ticks_per_second = kMs}));
  EXPECT_FALSE(accepted({.count = kMost, .period = 1, .capacity = kMost + 1, .ticks_per_second = kMs}));
  EXPECT_FALSE(accepted({.count = 1, .period = 0, .capacity = 1, .ticks_per_second = 1}));
  EXPECT_FALSE(accepted({.count = 1, .period = 999'999, .capacity = 1}));
  EXPECT_TRUE(accepted({.count = 1, .period = 1'000'000, .capacity = 1}));
  EXPECT_TRUE(accepted({.count = 1, .period = 400 * kDay, .capacity = 1, .ticks_per_second = 1}));
  EXPECT_FALSE(accepted({.count = 1, .period = 400 * kDay + 1, .capacity = 1, .ticks_per_second = 1}));
  EXPECT_TRUE(accepted({.count = 1, .period = 365 * kDay, .capacity = 10, .ticks_per_second = 1}));
  EXPECT_FALSE(accepted({.count = 1, .period = 365 * kDay, .capacity = 11, .ticks_per_second = 1}));
  EXPECT_FALSE(accepted({.count = 1, .period = INT64_MAX, .capacity = 1}));
  EXPECT_FALSE(accepted({.count = 1, .period = kMs, .capacity = 1, .ticks_per_second = 0}));
}

TEST(TokenBucketTest, RatesOfAWholeOrNearlyWholeIntervalTakeOneWord) {
  EXPECT_EQ(bucket({.count = 20, .period = 1'000'000'000, .capacity = 20}).state_words(), 1);
  EXPECT_EQ(bucket({.count = 600, .period = 1'000'000'000, .capacity = 20}).numbers().count, 3);
  EXPECT_EQ(bucket({.count = 16, .period = 1'000'000'001, .capacity = 1}).state_words(), 1);
  EXPECT_EQ(bucket({.count = 17, .period = 1'000'000'001, .capacity = 1}).state_words(), 2);
}

TEST(TokenBucketTest, ABucketThatFillsForYearsTakesTwoWords) {
  constexpr Ticks kYear = 365 * kDay * 1'000'000'000;
  EXPECT_EQ(bucket({.count = 16, .period = kYear, .capacity = 1}).state_words(), 1);
  EXPECT_EQ(bucket({.count = 16, .period = kYear + 1, .capacity = 159}).state_words(), 2);
  EXPECT_EQ(bucket({.count = 16, .period = kYear + 1, .capacity = 1, .debt = 159}).state_words(), 2);
}

TEST(TokenBucketTest, TheExtremesOfTheRangesDoNotOverflow) {
  constexpr auto kMost = kMaxUnits;
  constexpr Ticks kSecond = 1'000'000'000;
  constexpr Ticks kYear = 365 * kDay * kSecond;
  constexpr Ticks kLast = kMaxNowSeconds * kSecond;
  const TokenBucket::Numbers extremes[] = {
      {.count = kMost, .period = 1'000'000, .capacity = kMost},
      {.count = kMost - 1, .period = 400 * kDay * kSecond, .capacity = kMost},
      {.count = 1, .period = kYear, .capacity = 10},
      {.count = 16, .period = kYear + 1, .capacity = 159},
      {.count = 1, .period = 1'000'000, .capacity = 315'360'000'000},
  };
  for (const auto& numbers : extremes) {
    const TokenBucket limit = bucket(numbers);
    State state{};
    const Outcome emptied = limit.step(state, kLast, numbers.capacity);
    EXPECT_TRUE(emptied.admitted);
    EXPECT_EQ(emptied.remaining, 0);
    const Outcome refused = limit.step(state, kLast, 1);
    EXPECT_FALSE(refused.admitted);
    EXPECT_GE(refused.retry_after.value(), 1);
    EXPECT_EQ(limit.step(state, kLast, kMost).admitted, false);
    EXPECT_EQ(limit.step(state, 0, 1).reset_after, emptied.reset_after) << "repaired";
  }
}

TEST(TokenBucketTest, ACostOfZeroIsAPeekAlsoForARepair) {
  const TokenBucket limit = bucket({.count = 10, .period = 1000, .capacity = 10, .ticks_per_second = kMs});
  State state{};
  limit.step(state, 3'600'000, 10);
  const State before = state;
  const Outcome peeked = limit.step(state, 0, 0);
  EXPECT_EQ(state, before);
  EXPECT_EQ(peeked.remaining, 0);
  EXPECT_EQ(peeked.reset_after, 1000);
}

TEST(TokenBucketTest, ARefusalOfACostAboveTheCapacityStillRepairs) {
  const TokenBucket limit = bucket({.count = 10, .period = 1000, .capacity = 10, .ticks_per_second = kMs});
  State state{};
  limit.step(state, 3'600'000, 10);
  limit.step(state, 0, 11);
  EXPECT_EQ(state[0], 1000);
}

TEST(TokenBucketTest, AStepBackOfAMinuteIsSatOutAndOneMoreTickIsRepaired) {
  const TokenBucket limit = bucket({.count = 10, .period = 1000, .capacity = 10, .ticks_per_second = kMs});
  State state{};
  limit.step(state, 100'000, 10);
  EXPECT_EQ(limit.step(state, 40'000, 1).retry_after, 60'100);
  EXPECT_EQ(limit.step(state, 39'999, 1).retry_after, 100);
}

TEST(TokenBucketTest, ABurstOfOneLosesToPollingWhatTheModelSaysItLoses) {
  for (const auto& [capacity, admitted] : {std::pair{1, 25}, std::pair{3, 32}}) {
    const TokenBucket limit = bucket({.count = 3, .period = 1000, .capacity = capacity, .ticks_per_second = kMs});
    State state{};
    int passed = 0;
    for (Ticks now = 0; now < 10'000; now += 100) passed += limit.step(state, now, 1).admitted ? 1 : 0;
    EXPECT_EQ(passed, admitted) << "burst " << capacity;
  }
}

TEST(TokenBucketTest, AFreshBucketPassesItsBurstAndOnePeriodsWorthInThatPeriod) {
  for (const auto& [capacity, most] : {std::pair{100, 200}, std::pair{1, 101}}) {
    const TokenBucket limit = bucket({.count = 100, .period = 60'000, .capacity = capacity, .ticks_per_second = kMs});
    State state{};
    int passed = 0;
    for (Ticks now = 0; now <= 60'000; ++now) {
      while (limit.step(state, now, 1).admitted) ++passed;
    }
    EXPECT_EQ(passed, most) << "burst " << capacity;
  }
}

TEST(TokenBucketTest, WhatIsGivenBackCanBeTakenAgainButNeverMore) {
  const TokenBucket limit = bucket({.count = 10, .period = 1000, .capacity = 10, .ticks_per_second = kMs});
  State state{};
  limit.step(state, 5000, 10);
  limit.give_back(state, 5000, 3, 5000);
  EXPECT_EQ(limit.step(state, 5000, 0).remaining, 3);
  limit.give_back(state, 5000, 9, 5000);
  EXPECT_EQ(limit.step(state, 5000, 0).remaining, 10);
  EXPECT_TRUE(limit.is_initial(state, 5000));
  limit.give_back(state, 6000, 1, 6000);
  EXPECT_EQ(limit.step(state, 6000, 10).remaining, 0);
}

TEST(TokenBucketTest, OtherNumbersCarryTheUsedAmount) {
  struct Row {
    TokenBucket::Numbers before;
    Cost used;
    TokenBucket::Numbers after;
    Cost remaining;
    Ticks retry_after;  // of cost 1
  };
  const Row rows[] = {{{10, 60000, 10, kMs}, 10, {10, 1000, 10, kMs}, 0, 100},
                      {{10, 1000, 10, kMs}, 10, {10, 60000, 10, kMs}, 0, 6000},
                      {{10, 1000, 10, kMs}, 10, {10, 1000, 100, kMs}, 90, 0},
                      {{10, 1000, 100, kMs}, 50, {10, 1000, 10, kMs}, 0, 100},
                      {{10, 1000, 100, kMs}, 5, {10, 1000, 10, kMs}, 5, 0},
                      // between the encodings: 999,983 per day in two words, its half left
                      {{1000, 1000, 1000, kMs}, 500, {999'983, 86'400'000, 1000, kMs}, 500, 0},
                      {{999'983, 86'400'000, 1000, kMs}, 500, {1000, 1000, 1000, kMs}, 500, 0}};
  for (const Row& row : rows) {
    Subject before(bucket(row.before));
    before.step(Call::at(0), row.used);
    Subject after = before.carried_to(bucket(row.after), Call::at(0));
    EXPECT_EQ(after.peek(Call::at(0)).remaining, row.remaining);
    EXPECT_EQ(after.step(Call::at(0), 1).retry_after, row.retry_after);
  }
}

TEST(TokenBucketTest, EqualNumbersCarryTheStateToTheBit) {
  const TokenBucket limit = bucket({.count = 7, .period = 1000, .capacity = 10, .ticks_per_second = kMs});
  const State state{123'456'789, 0};
  State carried{-1, -1};
  limit.carry(bucket({.count = 14, .period = 2000, .capacity = 10, .ticks_per_second = kMs}), state, carried, {});
  EXPECT_EQ(carried[0], state[0]);
}

TEST(TokenBucketTest, AFullBucketIsCarriedAsOneThatWasNeverUsed) {
  const TokenBucket before = bucket({.count = 10, .period = 1000, .capacity = 10, .ticks_per_second = kMs});
  const TokenBucket after = bucket({.count = 999'983, .period = 86'400'000, .capacity = 10, .ticks_per_second = kMs});
  State old_state{};
  State state{-1, -1};
  before.step(old_state, 0, 10);
  after.carry(before, old_state, state, Call::at(1000));
  EXPECT_EQ(state, State{});
}

TEST(LimitTest, ALimitIsItsBucket) {
  const TokenBucket numbers = bucket({.count = 10, .period = 1000, .capacity = 10, .ticks_per_second = kMs});
  const Limit limit = numbers;
  State of_limit{};
  State of_bucket{};
  EXPECT_EQ(limit.step(of_limit, Call::at(7), 4), numbers.step(of_bucket, 7, 4));
  EXPECT_EQ(of_limit, of_bucket);
  EXPECT_EQ(limit.state_words(), 1);
  EXPECT_EQ(limit.capacity(), 10);
  EXPECT_FALSE(limit.is_initial(of_limit, Call::at(7)));
  limit.give_back(of_limit, Call::at(7), 4, 7);
  EXPECT_TRUE(limit.is_initial(of_limit, Call::at(7)));
  EXPECT_EQ(limit, Limit(numbers));
}

TEST(LimitTest, CarryIsTheBucketsCarry) {
  const TokenBucket small = bucket({.count = 10, .period = 1000, .capacity = 10, .ticks_per_second = kMs});
  const TokenBucket large = bucket({.count = 10, .period = 1000, .capacity = 100, .ticks_per_second = kMs});
  State used{};
  State carried{};
  small.step(used, 0, 10);
  Limit(large).carry(small, used, carried, {});
  EXPECT_EQ(large.step(carried, 0, 0).remaining, 90);
}

}  // namespace
}  // namespace weir::limit
