// SPDX-License-Identifier: Apache-2.0
//
// Calendar quota: at most L units in each civil day, week, month or year of a time zone (civil_calendar.h). The state
// is the begin and the end of the period, and the units used in it.
//
// Guarantee: at most L in every period. A clock that goes back stays in the period that was reached; after a step of
// more than a minute the count moves to the clock's period.
// Operations and their contract: as in token_bucket.h.
// Thread safety: an immutable value; the state belongs to whoever holds it.
#pragma once

#include <cstdint>
#include <span>

#include "weir/base/result.h"
#include "weir/limit/civil_calendar.h"
#include "weir/limit/outcome.h"
#include "weir/limit/quota.h"
#include "weir/limit/ranges.h"

namespace weir::limit {

class CalendarQuota {
 public:
  struct Numbers {
    Cost capacity = 0;  // L, 0 to kMaxUnits
    Ticks ticks_per_second = 1'000'000'000;
    Cost debt = 0;  // D: how far take may go above L
    bool operator==(const Numbers&) const = default;
  };

  static Result<CalendarQuota> create(const Numbers& numbers, const CivilCalendar& calendar);

  static constexpr int state_words() { return 3; }
  Ticks time(const Call& call) const { return call.wall; }

  void step(std::span<std::int64_t> state, Ticks now, Cost cost, Outcome& outcome) const;

  // Only while the period that was charged lasts.
  void give_back(std::span<std::int64_t> state, Ticks now, Cost cost, Ticks at) const;
  void take(std::span<std::int64_t> state, Ticks now, Cost cost, Ticks at) const;

  bool is_initial(std::span<const std::int64_t> state, Ticks now) const;

  // Another L: the count stays. Other periods: it moves to the new one if the old one has not ended.
  void carry(const CalendarQuota& from, std::span<const std::int64_t> old_state, std::span<std::int64_t> state,
             const Call& call) const;

  Cost capacity() const { return numbers_.capacity; }
  const Numbers& numbers() const { return numbers_; }
  const CivilCalendar& calendar() const { return calendar_; }
  bool operator==(const CalendarQuota&) const = default;

 private:
  CalendarQuota(const Numbers& numbers, const CivilCalendar& calendar) : numbers_(numbers), calendar_(calendar) {}
  Quota look(std::span<const std::int64_t> state, Ticks now) const;
  Quota fresh(Ticks now, Cost used) const;
  static void write(std::span<std::int64_t> state, const Quota& quota) {
    state[0] = quota.start;
    state[1] = quota.end;
    state[2] = quota.used;
  }

  Numbers numbers_;
  CivilCalendar calendar_;
};

}  // namespace weir::limit
