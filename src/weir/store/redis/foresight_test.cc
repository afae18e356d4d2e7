// SPDX-License-Identifier: Apache-2.0
#include "weir/store/redis/foresight.h"

#include <gtest/gtest.h>

#include <vector>

namespace weir::store {
namespace {

using limit::Limit;

constexpr Micros kNow = 1'796'000'123'000'000;
constexpr limit::Call kCall{.now = 0, .wall = kNow, .phase = 7, .lease = {3, 4}};

std::vector<Limit> counted() {
  const limit::WindowNumbers window{
      .capacity = 5, .alignment = {.window = 60'000'000}, .ticks_per_second = kMicrosPerSecond};
  return {*limit::TokenBucket::create(
              {.count = 7, .period = 60'000'000, .capacity = 5, .ticks_per_second = kMicrosPerSecond}),
          *limit::LeakyBucket::create(
              {.count = 1, .period = 10'000'000, .queue = 4, .undelayed = 1, .ticks_per_second = kMicrosPerSecond}),
          *limit::FixedWindow::create(window), *limit::SlidingWindow::create(window)};
}

// What a step says is what was foreseen, whichever way.
TEST(ForesightTest, IsWhatTheStepThenSays) {
  for (const Limit& limit : counted()) {
    StateWords words{};
    for (int step = 0; step < 8; ++step) {
      const limit::Cost cost = limit.holds<limit::LeakyBucket>() ? 1 : 1 + step % 3;
      const Foreseen foreseen = foresee(limit, words, kCall, cost);
      const limit::Outcome guessed = foresee(limit, foreseen.seen, kCall, cost);
      const limit::Outcome told = limit.step(words, kCall, cost);
      EXPECT_EQ(foreseen.asked, told) << limit.algorithm().index() << " step " << step;
      EXPECT_EQ(guessed.admitted, told.admitted);
      EXPECT_EQ(guessed.remaining, told.remaining);
      EXPECT_NEAR(static_cast<double>(guessed.delay), static_cast<double>(told.delay), 1);
      EXPECT_EQ(guessed.retry_after.has_value(), told.retry_after.has_value());
      EXPECT_GE(guessed.retry_after.value_or(0) + 1, told.retry_after.value_or(0));
    }
  }
}

TEST(ForesightTest, NoWaitHelpsACostAboveTheCapacity) {
  for (const Limit& limit : counted()) {
    const Foreseen foreseen = foresee(limit, StateWords{}, kCall, 6);
    EXPECT_FALSE(foreseen.asked.admitted);
    EXPECT_FALSE(foreseen.asked.retry_after.has_value());
    EXPECT_FALSE(foresee(limit, foreseen.seen, kCall, 6).retry_after.has_value());
  }
}

TEST(ForesightTest, ForeseeingChangesNothing) {
  for (const Limit& limit : counted()) {
    StateWords words{};
    limit.step(words, kCall, 1);
    const StateWords before = words;
    foresee(limit, words, kCall, 2);
    EXPECT_EQ(words, before);
  }
}

TEST(ForesightTest, WhatIsUsedIsCarriedToOtherNumbers) {
  const Limit small = counted().front();
  const Limit large = *limit::TokenBucket::create(
      {.count = 7, .period = 60'000'000, .capacity = 50, .ticks_per_second = kMicrosPerSecond});
  StateWords words{};
  small.step(words, kCall, 3);
  std::string state;
  append_state(small, words, kNow, state);
  const Carried result = carried(small, state, large, kCall);
  EXPECT_EQ(result.used, 3);
  EXPECT_EQ(foresee(large, result.words, kCall, 1).asked.remaining, 46);
}

TEST(ForesightTest, OfEntriesOnlyWhatRemainsIsKnown) {
  const Limit log =
      *limit::SlidingLog::create({.capacity = 5, .window = 60'000'000, .ticks_per_second = kMicrosPerSecond});
  const limit::Outcome seen{
      .admitted = true, .remaining = 2, .retry_after = 0, .reset_after = 50'000'000, .next_after = 20'000'000};
  const limit::Outcome taken = foresee(log, seen, kCall, 2);
  EXPECT_TRUE(taken.admitted);
  EXPECT_EQ(taken.remaining, 0);
  EXPECT_EQ(taken.reset_after, 60'000'000);
  const limit::Outcome refused = foresee(log, seen, kCall, 3);
  EXPECT_FALSE(refused.admitted);
  EXPECT_EQ(refused.retry_after, 20'000'000);
}

}  // namespace
}  // namespace weir::store
