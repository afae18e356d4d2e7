// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/refresh_schedule.h"

#include <gtest/gtest.h>

namespace weir::gateway {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Instant kStart{std::chrono::hours(1)};

void expect_near(Instant due, Instant wanted_from, nanoseconds wait) {
  EXPECT_GE(due - wanted_from, wait * 9 / 10);
  EXPECT_LE(due - wanted_from, wait * 11 / 10);
}

TEST(RefreshScheduleTest, TheFirstFetchIsAtOnceAndTheNextAfterThePeriodOrNearly) {
  RefreshSchedule schedule(minutes(10), 1);
  EXPECT_LE(schedule.due(), kStart);
  bool differ = false;
  Instant last = kStart;
  for (int i = 0; i < 100; ++i) {
    const nanoseconds before = schedule.due() - last;
    last = kStart + minutes(i);
    schedule.done(true, last);
    expect_near(schedule.due(), last, minutes(10));
    differ |= i > 0 && schedule.due() - last != before;
  }
  EXPECT_TRUE(differ);
}

TEST(RefreshScheduleTest, FailuresAreFollowedByRetriesThatBecomeRarer) {
  RefreshSchedule schedule(minutes(1), 1);
  for (const int wait : {1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60, 60}) {
    schedule.done(false, kStart);
    expect_near(schedule.due(), kStart, seconds(wait));
  }
  schedule.done(true, kStart);
  expect_near(schedule.due(), kStart, minutes(1));
  schedule.done(false, kStart);
  expect_near(schedule.due(), kStart, seconds(1));
}

TEST(RefreshScheduleTest, AMissingKeyIsFetchedAtOnceButNotOften) {
  RefreshSchedule schedule(minutes(10), 1);
  schedule.done(true, kStart);
  schedule.missed(kStart + seconds(1));
  EXPECT_EQ(schedule.due(), kStart + seconds(1));
  schedule.done(true, kStart + seconds(1));
  for (int i = 1; i < 1000; ++i) {
    schedule.missed(kStart + seconds(1) + milliseconds(i));
    EXPECT_EQ(schedule.due(), kStart + seconds(31));
  }
  schedule.done(true, kStart + seconds(31));
  schedule.missed(kStart + seconds(100));
  EXPECT_EQ(schedule.due(), kStart + seconds(100));
}

TEST(RefreshScheduleTest, AMissNeverPutsAFetchOff) {
  RefreshSchedule schedule(seconds(5), 1);
  schedule.done(true, kStart);
  schedule.missed(kStart);
  schedule.done(true, kStart);
  const Instant due = schedule.due();
  schedule.missed(kStart + seconds(1));
  EXPECT_EQ(schedule.due(), due);
}

}  // namespace
}  // namespace weir::gateway
