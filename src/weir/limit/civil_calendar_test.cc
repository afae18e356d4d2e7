// SPDX-License-Identifier: Apache-2.0
//
// Every boundary of civil periods from 1970 to 2100 against the C library, which reads the time zone database by
// itself and follows its rules beyond the last change that is written out.
#include "weir/limit/civil_calendar.h"

#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace weir::limit {
namespace {

using std::chrono::day;
using std::chrono::days;
using std::chrono::last;
using std::chrono::local_days;
using std::chrono::weekday;
using std::chrono::year_month_day;
using Unit = CivilCalendar::Unit;
using Rules = CivilCalendar::Rules;

constexpr std::int64_t kDay = 86'400;
constexpr const char* kZones[] = {
    "Africa/Cairo",     "Africa/Casablanca", "Africa/Monrovia",  "America/Havana",   "America/New_York",
    "America/Santiago", "America/Sao_Paulo", "America/St_Johns", "Antarctica/Troll", "Asia/Amman",
    "Asia/Beirut",      "Asia/Gaza",         "Asia/Kathmandu",   "Asia/Tehran",      "Australia/Lord_Howe",
    "Europe/Berlin",    "Europe/Dublin",     "Pacific/Apia",     "Pacific/Chatham",  "Pacific/Kwajalein"};

// The zone of the C library while it lives.
class SystemZone {
 public:
  explicit SystemZone(const std::string& name) {
    if (const char* before = std::getenv("TZ")) before_ = before;
    set(name);
  }
  SystemZone(const SystemZone&) = delete;
  SystemZone& operator=(const SystemZone&) = delete;
  ~SystemZone() { set(before_); }

  static std::int64_t offset_at(std::int64_t second) {
    const time_t at = second;
    tm civil{};
    localtime_r(&at, &civil);
    return civil.tm_gmtoff;
  }

 private:
  static void set(const std::optional<std::string>& name) {
    name ? setenv("TZ", name->c_str(), 1) : unsetenv("TZ");
    tzset();
  }
  std::optional<std::string> before_;
};

// What the clocks of a zone show: a sequence of offsets from UTC.
class Clocks {
 public:
  Clocks(const std::string& zone, std::int64_t from, std::int64_t to) {
    const SystemZone system(zone);
    spans_.push_back({INT64_MIN, SystemZone::offset_at(from)});
    for (std::int64_t at = from; at < to; at += kDay / 4) find_change(at, at + kDay / 4);
  }

  // The first instant at which the clocks show this much since 1970-01-01, or more if they skip it.
  std::int64_t first(std::int64_t shown) const {
    std::optional<std::int64_t> after_gap;
    const auto near = std::ranges::lower_bound(spans_, shown - 3 * kDay, {}, &Span::begin);
    for (auto span = near == spans_.begin() ? near : near - 1; span != spans_.end(); ++span) {
      const std::int64_t at = shown - span->offset;
      const bool ended = span + 1 != spans_.end() && at >= (span + 1)->begin;
      if (at >= span->begin && !ended) return at;
      if (at < span->begin && !after_gap) after_gap = span->begin;
      if (span->begin > shown + 3 * kDay) break;
    }
    return after_gap.value();
  }

 private:
  struct Span {
    std::int64_t begin;
    std::int64_t offset;
  };
  void find_change(std::int64_t before, std::int64_t after) {
    const std::int64_t offset = SystemZone::offset_at(after);
    if (offset == SystemZone::offset_at(before)) return;
    while (after - before > 1) {
      const std::int64_t middle = before + (after - before) / 2;
      (SystemZone::offset_at(middle) == offset ? after : before) = middle;
    }
    spans_.push_back({after, offset});
  }

  std::vector<Span> spans_;
};

bool begins_a_period(const Rules& rules, const year_month_day& date) {
  switch (rules.unit) {
    case Unit::kDay:
      return true;
    case Unit::kWeek:
      return weekday(local_days(date)) == rules.week_starts;
    case Unit::kMonth:
      return date.day() ==
             std::min(day(static_cast<unsigned>(rules.anchor_day)), (date.year() / date.month() / last).day());
    case Unit::kYear:
      break;
  }
  return date.month() == std::chrono::January && date.day() == day(1);
}

constexpr local_days kFirst{std::chrono::year(1970) / 1 / 1};
constexpr local_days kLast{std::chrono::year(2100) / 12 / 31};

// The first instants of all days, 1970 to 2100.
std::vector<std::int64_t> days_of(const std::string& zone) {
  const std::int64_t from = kFirst.time_since_epoch().count() * kDay;
  const std::int64_t to = kLast.time_since_epoch().count() * kDay;
  const Clocks clocks(zone, from - 10 * kDay, to + 10 * kDay);
  std::vector<std::int64_t> starts;
  for (std::int64_t midnight = from; midnight <= to; midnight += kDay) starts.push_back(clocks.first(midnight));
  return starts;
}

// A day that was left out begins and ends at once: it is no period.
std::vector<std::int64_t> boundaries(const Rules& rules, const std::vector<std::int64_t>& starts) {
  std::vector<std::int64_t> found;
  for (local_days date = kFirst; date <= kLast; date += days(1)) {
    const std::int64_t start = starts[static_cast<std::size_t>((date - kFirst).count())];
    const bool is_new = found.empty() || found.back() < start;
    if (is_new && begins_a_period(rules, year_month_day(date))) found.push_back(start);
  }
  return found;
}

void expect_boundaries(const Rules& rules, const std::vector<std::int64_t>& starts) {
  const CivilCalendar calendar = CivilCalendar::create(rules).value();
  const std::vector<std::int64_t> found = boundaries(rules, starts);
  for (std::size_t i = 0; i + 1 < found.size(); ++i) {
    const CivilCalendar::Period period{found[i], found[i + 1]};
    // Within an hour of a boundary the clocks may show the other day.
    for (const std::int64_t second :
         {period.start, period.start + 90, period.start + 3000, period.end - 3000, period.end - 90, period.end - 1}) {
      const CivilCalendar::Period told = calendar.period_of(second);
      ASSERT_EQ(told, period) << rules.zone << ", unit " << static_cast<int>(rules.unit) << " at " << second << ": "
                              << told.start << " to " << told.end << ", but " << period.start << " to " << period.end;
    }
  }
}

TEST(CivilCalendarTest, EveryBoundaryIsThatOfTheCLibrary) {
  for (const char* zone : kZones) {
    const std::vector<std::int64_t> starts = days_of(zone);
    ASSERT_TRUE(std::ranges::is_sorted(starts));
    expect_boundaries({Unit::kDay, zone}, starts);
    expect_boundaries({Unit::kYear, zone}, starts);
    for (const int anchor : {1, 15, 29, 30, 31}) expect_boundaries({Unit::kMonth, zone, anchor}, starts);
    for (const auto first : {std::chrono::Monday, std::chrono::Sunday, std::chrono::Saturday}) {
      expect_boundaries({.unit = Unit::kWeek, .zone = zone, .week_starts = first}, starts);
    }
  }
}

TEST(CivilCalendarTest, ADayThatAZoneLeftOutIsNoPeriod) {
  const CivilCalendar days_in_apia = CivilCalendar::create({.zone = "Pacific/Apia"}).value();
  constexpr std::int64_t kSkipped = 1'325'239'200;  // 2011-12-30 there: 10:00 UTC, when the 31st began
  EXPECT_EQ(days_in_apia.period_of(kSkipped - 1).end, kSkipped);
  EXPECT_EQ(days_in_apia.period_of(kSkipped), (CivilCalendar::Period{kSkipped, kSkipped + kDay}));
}

}  // namespace
}  // namespace weir::limit
