// SPDX-License-Identifier: Apache-2.0
#include "weir/limit/calendar_quota.h"

#include <algorithm>

namespace weir::limit {

Result<CalendarQuota> CalendarQuota::create(const Numbers& numbers, const CivilCalendar& calendar) {
  if (const char* fault = common_fault(numbers.capacity, numbers.debt, numbers.ticks_per_second)) {
    return invalid(fault);
  }
  return CalendarQuota(numbers, calendar);
}

Quota CalendarQuota::fresh(Ticks now, Cost used) const {
  const Ticks second = numbers_.ticks_per_second;
  const CivilCalendar::Period period = calendar_.period_of(now / second);
  return {period.start * second, period.end * second, used};
}

// The quota that counts at `now`.
Quota CalendarQuota::look(std::span<const std::int64_t> state, Ticks now) const {
  Quota quota{state[0], state[1], state[2]};
  if (quota.used == 0 || now >= quota.end) return fresh(now, 0);
  if (quota.start - now <= kClockStepSeconds * numbers_.ticks_per_second) return quota;
  quota = fresh(now, quota.used);
  quota.repaired = true;
  return quota;
}

void CalendarQuota::step(std::span<std::int64_t> state, Ticks now, Cost cost, Outcome& outcome) const {
  Quota quota = look(state, now);
  if (quota.step(numbers_.capacity, now, cost, outcome)) write(state, quota);
}

void CalendarQuota::give_back(std::span<std::int64_t> state, Ticks now, Cost cost, Ticks at) const {
  Quota quota = look(state, now);
  if (quota.give_back(cost, at)) write(state, quota);
}

void CalendarQuota::take(std::span<std::int64_t> state, Ticks now, Cost cost, Ticks at) const {
  Quota quota = look(state, now);
  if (quota.take(cost, numbers_.capacity + numbers_.debt, at)) write(state, quota);
}

bool CalendarQuota::is_initial(std::span<const std::int64_t> state, Ticks now) const {
  return state[2] == 0 || now >= state[1];
}

void CalendarQuota::carry(const CalendarQuota& from, std::span<const std::int64_t> old_state,
                          std::span<std::int64_t> state, const Call& call) const {
  if (calendar_ == from.calendar_ && numbers_.ticks_per_second == from.numbers_.ticks_per_second) {
    return write(state, {old_state[0], old_state[1], old_state[2]});
  }
  const Cost used = from.look(old_state, from.time(call)).used;
  write(state, used == 0 ? Quota{0, 0, 0} : fresh(time(call), std::min(used, numbers_.capacity)));
}

}  // namespace weir::limit
