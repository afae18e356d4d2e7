// SPDX-License-Identifier: Apache-2.0
//
// Civil periods: days, weeks, months and years as people in a time zone count them, so days of 23 to 25 hours and
// months of 28 to 31 days. A period begins at midnight; where the clocks skip midnight, at the first instant after
// the gap; where they repeat it, at the first of the two. Zones are those of the IANA database on this machine.
// Thread safety: an immutable value.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "weir/base/result.h"

namespace weir::limit {

class CivilCalendar {
 public:
  enum class Unit { kDay, kWeek, kMonth, kYear };

  struct Rules {
    Unit unit = Unit::kDay;
    std::string zone = "UTC";  // e.g. "Europe/Berlin"
    int anchor_day = 1;        // of months: 1 to 31, cut to the month's last day
    std::chrono::weekday week_starts = std::chrono::Monday;
    bool operator==(const Rules&) const = default;
  };

  // Fails when the zone is unknown or the day is not 1 to 31.
  static Result<CivilCalendar> create(const Rules& rules);

  // Seconds since 1970-01-01 UTC; the end is the begin of the next period.
  struct Period {
    std::int64_t start;
    std::int64_t end;
    bool operator==(const Period&) const = default;
  };
  // The period that has this second. Some hundred nanoseconds.
  Period period_of(std::int64_t second) const;

  const Rules& rules() const;
  bool operator==(const CivilCalendar& other) const { return rules() == other.rules(); }

 private:
  struct Zoned;
  explicit CivilCalendar(std::shared_ptr<const Zoned> zoned) : zoned_(std::move(zoned)) {}

  std::shared_ptr<const Zoned> zoned_;
};

}  // namespace weir::limit
