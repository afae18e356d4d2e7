// SPDX-License-Identifier: Apache-2.0
#include "weir/limit/leaky_bucket.h"

#include <gtest/gtest.h>

#include <vector>

#include "weir/limit/testing/subject.h"

namespace weir::limit {
namespace {

constexpr Ticks kMs = 1000;  // ticks per second

struct Step {
  Ticks now;
  bool passes;
  Ticks wait;  // its delay, or its retry_after
};

Limit queue_of(std::int64_t count, std::int64_t queue, std::int64_t undelayed) {
  return LeakyBucket::create(
             {.count = count, .period = 1000, .queue = queue, .undelayed = undelayed, .ticks_per_second = kMs})
      .value();
}

void expect_steps(const Limit& limit, const std::vector<Step>& steps) {
  Subject subject(limit);
  for (const Step& step : steps) {
    const Outcome outcome = subject.step(Call::at(step.now), 1);
    EXPECT_EQ(outcome.admitted, step.passes) << "at " << step.now;
    EXPECT_EQ(step.passes ? outcome.delay : outcome.retry_after.value(), step.wait) << "at " << step.now;
  }
}

TEST(LeakyBucketTest, EverybodyInTheLineWaitsForThoseBefore) {
  expect_steps(queue_of(10, 5, 0), {{0, true, 0},
                                    {0, true, 100},
                                    {0, true, 200},
                                    {0, true, 300},
                                    {0, true, 400},
                                    {0, true, 500},
                                    {0, false, 100},
                                    {50, false, 50},
                                    {100, true, 500}});
}

TEST(LeakyBucketTest, TheFirstPlacesNeedNotWait) {
  std::vector<Step> steps(9, {0, true, 0});
  for (const Ticks delay : {200, 400, 600, 800}) steps.push_back({0, true, delay});
  steps.push_back({0, false, 200});
  expect_steps(queue_of(5, 12, 8), steps);
}

TEST(LeakyBucketTest, WithoutALineAnIntervalHasToPass) {
  expect_steps(queue_of(3, 0, 0), {{0, true, 0}, {333, false, 1}, {334, true, 0}, {667, false, 1}, {668, true, 0}});
}

TEST(LeakyBucketTest, WhoLeavesTheEndOfTheLineLeavesItsPlaceToTheNext) {
  Subject subject(queue_of(10, 2, 0));
  for (int i = 0; i < 3; ++i) subject.step(Call::at(0), 1);
  EXPECT_FALSE(subject.would_admit(Call::at(0), 1));
  subject.give_back(Call::at(0), 1, 0);
  const Outcome next = subject.step(Call::at(0), 1);
  EXPECT_TRUE(next.admitted);
  EXPECT_EQ(next.delay, 200);
}

TEST(LeakyBucketTest, NumbersOutOfRangeAreRefused) {
  const auto accepted = [](const LeakyBucket::Numbers& numbers) { return LeakyBucket::create(numbers).has_value(); };
  EXPECT_TRUE(accepted({.count = 1, .period = kMs, .queue = 0, .ticks_per_second = kMs}));
  EXPECT_TRUE(accepted({.count = 1, .period = kMs, .queue = 3, .undelayed = 3, .ticks_per_second = kMs}));
  EXPECT_FALSE(accepted({.count = 1, .period = kMs, .queue = 3, .undelayed = 4, .ticks_per_second = kMs}));
  EXPECT_FALSE(accepted({.count = 1, .period = kMs, .queue = -1, .ticks_per_second = kMs}));
  EXPECT_FALSE(accepted({.count = 1, .period = kMs, .queue = 3, .undelayed = -1, .ticks_per_second = kMs}));
  EXPECT_FALSE(accepted({.count = kMaxUnits, .period = kMs, .queue = kMaxUnits, .ticks_per_second = kMs}));
}

}  // namespace
}  // namespace weir::limit
