// SPDX-License-Identifier: Apache-2.0
#include "weir/limit/fixed_window.h"

#include <algorithm>

namespace weir::limit {

Result<FixedWindow> FixedWindow::create(const Numbers& numbers) {
  if (const char* fault = numbers.fault()) return invalid(fault);
  return FixedWindow(numbers);
}

// The clock has left the window of the state, or gone back before it.
Quota FixedWindow::look_away(const Quota& window, Ticks now) const {
  if (window.used == 0 || window.end <= now) return window_of(now, 0);
  if (window.start - now <= kClockStepSeconds * numbers_.ticks_per_second) return window;
  Quota moved = window_of(now, window.used);
  moved.repaired = true;
  return moved;
}

void FixedWindow::give_back(std::span<std::int64_t> state, Ticks now, Cost cost, Ticks at) const {
  Quota window = look(state, now);
  if (window.give_back(cost, at)) write(state, window);
}

void FixedWindow::take(std::span<std::int64_t> state, Ticks now, Cost cost, Ticks at) const {
  Quota window = look(state, now);
  if (window.take(cost, numbers_.capacity + numbers_.debt, at)) write(state, window);
}

void FixedWindow::realign(std::span<std::int64_t> state, const Call& from, const Call& to) const {
  const Cost used = look(state, time(from)).used;
  write(state, used == 0 ? Quota{0, 0, 0} : window_of(time(to), used));
}

void FixedWindow::carry(const FixedWindow& from, std::span<const std::int64_t> old_state,
                        std::span<std::int64_t> state, const Call& call) const {
  if (numbers_.alignment == from.numbers_.alignment)
    return void(std::ranges::copy(old_state.first(2), state.begin()));
  const Cost used = from.look(old_state, from.time(call)).used;
  write(state, used == 0 ? Quota{0, 0, 0} : window_of(time(call), std::min(used, numbers_.capacity)));
}

}  // namespace weir::limit
