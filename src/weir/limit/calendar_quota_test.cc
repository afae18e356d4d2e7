// SPDX-License-Identifier: Apache-2.0
#include "weir/limit/calendar_quota.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "weir/limit/testing/subject.h"

namespace weir::limit {
namespace {

using std::chrono::sys_days;
using Unit = CivilCalendar::Unit;

std::int64_t utc(int year, unsigned month, unsigned day, int hour = 0, int minute = 0, int second = 0) {
  const sys_days date = std::chrono::year(year) / static_cast<int>(month) / static_cast<int>(day);
  return date.time_since_epoch().count() * std::int64_t{86'400} + hour * 3600 + minute * 60 + second;
}

Limit quota(Cost capacity, const CivilCalendar::Rules& rules) {
  return CalendarQuota::create({.capacity = capacity, .ticks_per_second = 1}, CivilCalendar::create(rules).value())
      .value();
}

TEST(CalendarQuotaTest, PeriodsAreThoseOfTheCivilCalendar) {
  struct Row {
    CivilCalendar::Rules rules;
    std::int64_t now;
    std::int64_t start;
    std::int64_t end;
    std::int64_t length;
    Ticks retry_after;
  };
  const Row rows[] = {
      {{Unit::kDay, "Europe/Berlin"},
       utc(2026, 3, 29, 0, 30),
       utc(2026, 3, 28, 23),
       utc(2026, 3, 29, 22),
       82800,
       77400},
      {{Unit::kDay, "Europe/Berlin"},
       utc(2026, 10, 25, 12),
       utc(2026, 10, 24, 22),
       utc(2026, 10, 25, 23),
       90000,
       39600},
      {{Unit::kMonth, "Europe/Berlin"},
       utc(2026, 3, 15),
       utc(2026, 2, 28, 23),
       utc(2026, 3, 31, 22),
       2674800,
       1461600},
      {{Unit::kDay, "Africa/Cairo"}, utc(2026, 4, 24, 1), utc(2026, 4, 23, 22), utc(2026, 4, 24, 21), 82800, 72000},
      {{Unit::kMonth, "America/New_York"},
       utc(2026, 11, 1, 6, 30),
       utc(2026, 11, 1, 4),
       utc(2026, 12, 1, 5),
       2595600,
       2586600},
      {{Unit::kMonth, "UTC"}, utc(2028, 2, 29, 12), utc(2028, 2, 1), utc(2028, 3, 1), 2505600, 43200},
      {{Unit::kMonth, "UTC", 31}, utc(2026, 3, 15), utc(2026, 2, 28), utc(2026, 3, 31), 2678400, 1382400},
      {{Unit::kWeek, "UTC"}, utc(2026, 12, 6, 23, 59, 59), utc(2026, 11, 30), utc(2026, 12, 7), 604800, 1},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.rules.zone + " at " + std::to_string(row.now));
    const auto period = CivilCalendar::create(row.rules).value().period_of(row.now);
    EXPECT_EQ(period, (CivilCalendar::Period{row.start, row.end}));
    EXPECT_EQ(period.end - period.start, row.length);
    Subject subject(quota(1, row.rules));
    EXPECT_EQ(subject.step(Call::at(row.now), 1).reset_after, row.retry_after);
    EXPECT_EQ(subject.step(Call::at(row.now), 1).retry_after, row.retry_after);
    EXPECT_TRUE(subject.would_admit(Call::at(row.end), 1));
    EXPECT_FALSE(subject.would_admit(Call::at(row.end - 1), 1));
  }
}

TEST(CalendarQuotaTest, ADayOfAMonthDoesNotBringANewMonth) {
  Subject subject(quota(10, {Unit::kMonth, "UTC"}));
  EXPECT_TRUE(subject.step(Call::at(utc(2026, 10, 1)), 10).admitted);
  EXPECT_FALSE(subject.step(Call::at(utc(2026, 10, 31, 23, 59, 59)), 1).admitted);
  EXPECT_TRUE(subject.step(Call::at(utc(2026, 11, 1)), 10).admitted);
}

TEST(CalendarQuotaTest, AnotherZoneKeepsWhatWasUsed) {
  Subject subject(quota(10, {Unit::kDay, "UTC"}));
  subject.step(Call::at(utc(2026, 5, 1, 12)), 7);
  const Call noon = Call::at(utc(2026, 5, 1, 12));
  EXPECT_EQ(subject.carried_to(quota(10, {Unit::kMonth, "Asia/Kathmandu"}), noon).peek(noon).remaining, 3);
  EXPECT_EQ(subject.carried_to(quota(5, {Unit::kDay, "Asia/Kathmandu"}), noon).peek(noon).remaining, 0);
  EXPECT_TRUE(subject.carried_to(quota(5, {Unit::kDay, "Asia/Kathmandu"}), noon).peek(noon).admitted) << "no debt";
  const Call tomorrow = Call::at(utc(2026, 5, 2));
  EXPECT_EQ(subject.carried_to(quota(10, {Unit::kMonth, "UTC"}), tomorrow).peek(tomorrow).remaining, 10);
}

TEST(CalendarQuotaTest, UnknownZonesAndImpossibleDaysAreRefused) {
  EXPECT_FALSE(CivilCalendar::create({.zone = "Europe/Atlantis"}).has_value());
  EXPECT_FALSE(CivilCalendar::create({.anchor_day = 0}).has_value());
  EXPECT_FALSE(CivilCalendar::create({.anchor_day = 32}).has_value());
}

}  // namespace
}  // namespace weir::limit
