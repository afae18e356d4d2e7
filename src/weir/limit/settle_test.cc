// SPDX-License-Identifier: Apache-2.0
//
// Settling: a cost that was estimated before the request and is known after it.
#include <gtest/gtest.h>

#include <algorithm>

#include "weir/limit/testing/subject.h"

namespace weir::limit {
namespace {

constexpr Ticks kMs = 1000;  // ticks per second

Limit hundred_per_second(Cost capacity) {
  return TokenBucket::create(
             {.count = 100, .period = 1000, .capacity = capacity, .ticks_per_second = kMs, .debt = capacity})
      .value();
}

void settle(Subject& subject, const Call& call, Cost estimate, Cost actual, Ticks at) {
  if (actual < estimate) subject.give_back(call, estimate - actual, at);
  if (actual > estimate) subject.take(call, actual - estimate, at);
}

TEST(SettleTest, TheDifferenceIsGivenBackOrTaken) {
  struct Row {
    Cost capacity;
    Cost estimate;
    Ticks settled_at;
    Cost actual;
    Cost remaining;
  };
  const Row rows[] = {
      {1000, 100, 0, 37, 963}, {1000, 100, 0, 250, 750}, {1000, 100, 1000, 37, 1000}, {100, 100, 0, 150, 0}};
  for (const Row& row : rows) {
    Subject subject(hundred_per_second(row.capacity));
    const Outcome reserved = subject.step(Call::at(0), row.estimate);
    settle(subject, Call::at(row.settled_at), row.estimate, row.actual, reserved.at);
    EXPECT_EQ(subject.peek(Call::at(row.settled_at)).remaining, row.remaining);
  }
}

TEST(SettleTest, WhatWasTakenBelowEmptyHasToBeRefilledFirst) {
  Subject subject(hundred_per_second(100));
  const Outcome reserved = subject.step(Call::at(0), 100);
  settle(subject, Call::at(0), 100, 150, reserved.at);
  EXPECT_EQ(subject.step(Call::at(0), 1).retry_after, 510);
  EXPECT_FALSE(subject.peek(Call::at(0)).admitted) << "in debt";
  EXPECT_EQ(subject.peek(Call::at(0)).reset_after, 1500);
  EXPECT_TRUE(subject.peek(Call::at(500)).admitted);
}

TEST(SettleTest, ADebtStopsAtItsLimit) {
  Subject subject(hundred_per_second(100));
  const Outcome reserved = subject.step(Call::at(0), 100);
  subject.take(Call::at(0), kMaxUnits, reserved.at);
  EXPECT_EQ(subject.step(Call::at(0), 1).retry_after, 1010);
}

TEST(SettleTest, AWindowThatEndedIsNotSettledAnyMore) {
  const Limit limit =
      FixedWindow::create({.capacity = 10, .alignment = {.window = 1000}, .ticks_per_second = kMs, .debt = 10})
          .value();
  Subject subject(limit);
  const Outcome reserved = subject.step(Call::at(990), 5);
  subject.step(Call::at(1000), 4);
  const Subject before(subject);
  subject.give_back(Call::at(1000), 5, reserved.at);
  EXPECT_EQ(subject.peek(Call::at(1000)), before.peek(Call::at(1000)));
  subject.take(Call::at(1000), 5, reserved.at);
  EXPECT_EQ(subject.peek(Call::at(1000)), before.peek(Call::at(1000)));
}

TEST(SettleTest, ASlidingWindowSettlesInTheCountThatWasCharged) {
  const Limit limit =
      SlidingWindow::create({.capacity = 10, .alignment = {.window = 1000}, .ticks_per_second = kMs, .debt = 10})
          .value();
  Subject subject(limit);
  const Outcome reserved = subject.step(Call::at(990), 8);
  EXPECT_EQ(subject.peek(Call::at(1500)).remaining, 6);
  subject.give_back(Call::at(1500), 4, reserved.at);
  EXPECT_EQ(subject.peek(Call::at(1500)).remaining, 8);
  subject.give_back(Call::at(2500), 4, reserved.at);
  EXPECT_EQ(subject.peek(Call::at(2500)).remaining, 10);
}

TEST(SettleTest, ALogSettlesInTheEntryOfTheCharge) {
  const Limit limit =
      SlidingLog::create({.capacity = 10, .window = 1000, .ticks_per_second = kMs, .debt = 10}).value();
  Subject subject(limit);
  const Outcome first = subject.step(Call::at(0), 4);
  subject.step(Call::at(100), 4);
  subject.take(Call::at(200), 9, first.at);
  EXPECT_EQ(subject.step(Call::at(200), 6).retry_after, 800) << "the first entry holds 13 of 17";
  subject.give_back(Call::at(200), 13, first.at);
  EXPECT_EQ(subject.peek(Call::at(200)).remaining, 6);
  EXPECT_EQ(subject.peek(Call::at(200)).reset_after, 900);
}

}  // namespace
}  // namespace weir::limit
