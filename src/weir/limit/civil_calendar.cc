// SPDX-License-Identifier: Apache-2.0
#include "weir/limit/civil_calendar.h"

#include <cctz/civil_time.h>
#include <cctz/time_zone.h>

#include <algorithm>

namespace weir::limit {
namespace {

using cctz::civil_day;
using cctz::civil_month;
using cctz::civil_year;

// As cctz has the days of the week, Monday is 0.
cctz::weekday weekday_of(std::chrono::weekday day) {
  return static_cast<cctz::weekday>((day.iso_encoding() - 1) % 7);
}

// The anchor day of this month, or its last day if it has fewer.
civil_day anchored(const civil_month& month, int anchor_day) {
  return std::min(civil_day(month) + (anchor_day - 1), civil_day(month + 1) - 1);
}

// The first days of the period that has `day`, and of the next.
struct Days {
  civil_day first;
  civil_day next;
};

Days days_of(const CivilCalendar::Rules& rules, const civil_day& day) {
  switch (rules.unit) {
    case CivilCalendar::Unit::kDay:
      return {day, day + 1};
    case CivilCalendar::Unit::kWeek: {
      const civil_day next = cctz::next_weekday(day, weekday_of(rules.week_starts));
      return {next - 7, next};
    }
    case CivilCalendar::Unit::kMonth: {
      const civil_month month(day);
      const civil_day anchor = anchored(month, rules.anchor_day);
      if (day < anchor) return {anchored(month - 1, rules.anchor_day), anchor};
      return {anchor, anchored(month + 1, rules.anchor_day)};
    }
    case CivilCalendar::Unit::kYear:
      break;
  }
  const civil_year year(day);
  return {civil_day(year), civil_day(year + 1)};
}

cctz::time_point<cctz::seconds> instant(std::int64_t second) {
  return cctz::time_point<cctz::seconds>(cctz::seconds(second));
}

}  // namespace

struct CivilCalendar::Zoned {
  Rules rules;
  cctz::time_zone zone;

  // The first instant of a day. Of a midnight that happens twice it is the earlier one; one that is skipped lies at
  // the transition, where the next existing time begins.
  std::int64_t start_of(const civil_day& day) const {
    const auto found = zone.lookup(cctz::civil_second(day));
    const bool skipped = found.kind == cctz::time_zone::civil_lookup::SKIPPED;
    return (skipped ? found.trans : found.pre).time_since_epoch().count();
  }
};

Result<CivilCalendar> CivilCalendar::create(const Rules& rules) {
  if (rules.anchor_day < 1 || rules.anchor_day > 31) return invalid("a month begins on a day from 1 to 31");
  auto zoned = std::make_shared<Zoned>(Zoned{rules, {}});
  if (!cctz::load_time_zone(rules.zone, &zoned->zone)) return invalid("there is no time zone '" + rules.zone + "'");
  return CivilCalendar(std::move(zoned));
}

const CivilCalendar::Rules& CivilCalendar::rules() const { return zoned_->rules; }

CivilCalendar::Period CivilCalendar::period_of(std::int64_t second) const {
  const civil_day today(zoned_->zone.lookup(instant(second)).cs);
  const Days days = days_of(zoned_->rules, today);
  Period period{zoned_->start_of(days.first), zoned_->start_of(days.next)};
  // Where midnight comes twice, the new day begins at the first one, and an hour that looks like the old day follows.
  if (second >= period.end) {
    const Days after = days_of(zoned_->rules, days.next);
    period = {period.end, zoned_->start_of(after.next)};
  }
  return period;
}

}  // namespace weir::limit
