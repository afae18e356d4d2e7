// SPDX-License-Identifier: Apache-2.0
//
// Windows: where they begin, which numbers they accept, and what other numbers carry on.
#include <gtest/gtest.h>

#include "weir/limit/testing/subject.h"

namespace weir::limit {
namespace {

constexpr Ticks kMs = 1000;  // ticks per second
constexpr Ticks kDay = 86'400;

Limit fixed(Cost capacity, const Alignment& alignment) {
  return FixedWindow::create({.capacity = capacity, .alignment = alignment, .ticks_per_second = kMs}).value();
}

TEST(WindowTest, JitterComesFromTheSubjectsKey) {
  constexpr std::uint64_t kPhase = fnv1a("tenant-7");
  EXPECT_EQ(kPhase, 0xc2efb728e3ebfabd);
  const Limit limit =
      FixedWindow::create({.capacity = 1, .alignment = {.window = 60, .jitter = true}, .ticks_per_second = 1})
          .value();
  Subject subject(limit);
  const auto at = [](Ticks wall) { return Call{.now = wall, .wall = wall, .phase = kPhase}; };
  EXPECT_EQ(subject.step(at(600), 1).reset_after, 57);
  EXPECT_FALSE(subject.would_admit(at(656), 1));
  EXPECT_TRUE(subject.would_admit(at(657), 1));
}

TEST(WindowTest, AWindowDoesNotBeginWithTheFirstRequest) {
  Subject subject(fixed(1, {.window = 60'000}));
  subject.step(Call::at(59'999), 1);
  EXPECT_TRUE(subject.would_admit(Call::at(60'000), 1));
}

TEST(WindowTest, OtherWindowsCarryTheUsedAmountCutAtTheNewLimit) {
  Subject subject(fixed(10, {.window = 60'000}));
  const Outcome charged = subject.step(Call::at(1000), 7);
  Subject carried = subject.carried_to(fixed(5, {.window = 30'000}), Call::at(2000));
  EXPECT_EQ(carried.peek(Call::at(2000)).remaining, 0);
  EXPECT_EQ(carried.peek(Call::at(2000)).reset_after, 28'000);
  carried.give_back(Call::at(2000), 1, charged.at);
  EXPECT_EQ(carried.peek(Call::at(2000)).remaining, 1) << "five were carried, not seven";
}

TEST(WindowTest, AWindowThatEndedCarriesNothing) {
  Subject subject(fixed(10, {.window = 60'000}));
  subject.step(Call::at(1000), 7);
  EXPECT_EQ(subject.carried_to(fixed(10, {.window = 90'000}), Call::at(60'000)).peek(Call::at(60'000)).remaining, 10);
}

TEST(WindowTest, AnotherLimitOfTheSameWindowsKeepsTheCount) {
  Subject subject(fixed(10, {.window = 60'000}));
  subject.step(Call::at(1000), 7);
  const Call call = Call::at(2000);
  EXPECT_EQ(subject.carried_to(fixed(5, {.window = 60'000}), call)
                .carried_to(fixed(9, {.window = 60'000}), call)
                .peek(call)
                .remaining,
            2);
}

TEST(WindowTest, ASlidingWindowOfAnotherLengthCarriesItsWeightedUse) {
  const auto sliding = [](Cost capacity, Ticks window) {
    return Limit(
        SlidingWindow::create({.capacity = capacity, .alignment = {.window = window}, .ticks_per_second = kMs})
            .value());
  };
  Subject subject(sliding(10, 60'000));
  subject.step(Call::at(1000), 7);
  const Call call = Call::at(90'000);  // half of it still counts
  EXPECT_EQ(subject.peek(call).remaining, 6);
  EXPECT_EQ(subject.carried_to(sliding(10, 40'000), call).peek(call).remaining, 6);
  EXPECT_EQ(subject.carried_to(sliding(3, 40'000), call).peek(call).remaining, 0);
}

TEST(WindowTest, AShorterLogForgetsWhatNoLongerCounts) {
  const auto log = [](Ticks window) {
    return Limit(SlidingLog::create({.capacity = 10, .window = window, .ticks_per_second = kMs}).value());
  };
  Subject subject(log(60'000));
  subject.step(Call::at(0), 4);
  subject.step(Call::at(50'000), 3);
  const Call call = Call::at(55'000);
  EXPECT_EQ(subject.carried_to(log(10'000), call).peek(call).remaining, 7);
  EXPECT_EQ(subject.carried_to(log(90'000), call).peek(call).remaining, 3);
}

TEST(WindowTest, NumbersOutOfRangeAreRefused) {
  struct Row {
    Cost capacity;
    Alignment alignment;
    Ticks second;
    bool accepted;
  };
  const Row rows[] = {{0, {.window = 1}, kMs, true},
                      {kMaxUnits, {.window = 400 * kDay}, 1, true},
                      {-1, {.window = 1}, kMs, false},
                      {kMaxUnits + 1, {.window = 1}, kMs, false},
                      {1, {.window = 0}, 1, false},
                      {1, {.window = 999'999}, 1'000'000'000, false},
                      {1, {.window = 400 * kDay + 1}, 1, false},
                      {1, {.window = 60, .offset = 59}, 1, true},
                      {1, {.window = 60, .offset = 60}, 1, false},
                      {1, {.window = 60, .offset = -1}, 1, false},
                      {1, {.window = 60}, 0, false}};
  for (const Row& row : rows) {
    EXPECT_EQ(FixedWindow::create({row.capacity, row.alignment, row.second}).has_value(), row.accepted);
    EXPECT_EQ(SlidingWindow::create({row.capacity, row.alignment, row.second}).has_value(), row.accepted);
  }
  EXPECT_TRUE(SlidingLog::create({.capacity = 10'000, .window = 1, .ticks_per_second = kMs}).has_value());
  EXPECT_FALSE(SlidingLog::create({.capacity = 10'001, .window = 1, .ticks_per_second = kMs}).has_value());
}

TEST(WindowTest, AfterAClockThatWasFarAheadASlidingWindowCountsInFull) {
  const auto limit =
      SlidingWindow::create({.capacity = 10, .alignment = {.window = 60'000}, .ticks_per_second = kMs}).value();
  Subject subject{Limit(limit)};
  subject.step(Call::at(659'000), 10);
  subject.step(Call::at(719'000), 9);  // hardly anything of the window before counts any more
  EXPECT_EQ(subject.peek(Call::at(59'000)).remaining, 0) << "as if time stood still at the begin of the window";
}

}  // namespace
}  // namespace weir::limit
