// SPDX-License-Identifier: Apache-2.0
#include "weir/limit/sliding_window.h"

#include <algorithm>

namespace weir::limit {
namespace {

using Wide = unsigned __int128;

// units * ticks / by, of numbers that are not negative; dividing 64 bits takes half the time of dividing 128.
struct Quotient {
  std::int64_t whole;
  Ticks rest;
};

Quotient divide(std::int64_t units, Ticks ticks, std::int64_t by) {
  const Wide product = static_cast<Wide>(static_cast<std::uint64_t>(units)) * static_cast<std::uint64_t>(ticks);
  const auto divisor = static_cast<std::uint64_t>(by);
  if (const auto narrow = static_cast<std::uint64_t>(product); narrow == product) [[likely]] {
    return {static_cast<std::int64_t>(narrow / divisor), static_cast<Ticks>(narrow % divisor)};
  }
  return {static_cast<std::int64_t>(product / divisor), static_cast<Ticks>(product % divisor)};
}

Ticks divide_up(Ticks ticks, Cost by) { return (ticks + by - 1) / by; }

}  // namespace

Result<SlidingWindow> SlidingWindow::create(const Numbers& numbers) {
  if (const char* fault = numbers.fault()) return invalid(fault);
  return SlidingWindow(numbers);
}

// The counts as they are to be read at `now`.
[[gnu::always_inline]] inline SlidingWindow::Counts SlidingWindow::look(std::span<const std::int64_t> state,
                                                                        Ticks now) const {
  Counts counts{state[0], state[1], state[2]};
  counts.elapsed = now - counts.start;
  const Ticks window = numbers_.alignment.window;
  if (counts.elapsed >= 0 && counts.elapsed < window) [[likely]]
    return counts;
  if (counts.elapsed < 0) return look_back(counts, now);
  if (counts.elapsed - window < window) {
    return {counts.start + window, counts.current, 0, counts.elapsed - window};
  }
  const Ticks start = numbers_.alignment.start_of(now);
  return {start, 0, 0, now - start};
}

// The clock went back before the window that was reached.
SlidingWindow::Counts SlidingWindow::look_back(Counts counts, Ticks now) const {
  const Ticks start = numbers_.alignment.start_of(now);
  if (counts.previous == 0 && counts.current == 0) return {start, 0, 0, now - start};
  if (counts.start - now > kClockStepSeconds * numbers_.ticks_per_second) {
    // The fullest they can be read as: as if time stood still at the begin of the window that was reached.
    const Cost used = std::max(counts.current, std::min(counts.previous + counts.current, numbers_.capacity));
    return {start, 0, used, now - start, 0, true};
  }
  counts.elapsed = 0;
  counts.lag = counts.start - now;
  return counts;
}

// What the window before still counts for, rounded up.
[[gnu::always_inline]] inline SlidingWindow::Weight SlidingWindow::weigh(const Counts& counts) const {
  if (counts.previous == 0) return {0, 0};
  const Ticks window = numbers_.alignment.window;
  const auto [whole, rest] = divide(counts.previous, window - counts.elapsed, window);
  return rest == 0 ? Weight{whole, window} : Weight{whole + 1, rest};
}

// Until a refused cost passes. Requires: cost <= L. If the current count leaves room for it, the window before has to
// fade; otherwise the current window has to become the one before, and fade.
Ticks SlidingWindow::wait(const Counts& counts, Cost cost) const {
  const Ticks window = numbers_.alignment.window;
  const Cost room = numbers_.capacity - cost;
  if (counts.current <= room) {
    const Ticks kept = divide(room - counts.current, window, counts.previous).whole;
    return window - kept - counts.elapsed + counts.lag;
  }
  const Ticks kept = divide(room, window, counts.current).whole;
  return window - counts.elapsed + std::max<Ticks>(0, window - kept) + counts.lag;
}

// Until one unit more passes: the same as wait(room + 1), from smaller numbers. Requires: 0 <= room < L.
[[gnu::always_inline]] inline Ticks SlidingWindow::next(const Counts& counts, const Weight& weight) const {
  if (counts.previous > 0) return divide_up(weight.excess, counts.previous) + counts.lag;
  const Ticks window = numbers_.alignment.window;
  return window - counts.elapsed + divide_up(window, counts.current) + counts.lag;
}

void SlidingWindow::step(std::span<std::int64_t> state, Ticks now, Cost cost, Outcome& outcome) const {
  Counts counts = look(state, now);
  if (counts.repaired && cost > 0) [[unlikely]]
    write(state, counts);
  const Cost capacity = numbers_.capacity;
  const Weight weight = weigh(counts);
  Cost room = capacity - counts.current - weight.units;
  outcome.admitted = cost <= room;
  outcome.delay = 0;
  outcome.at = now + counts.lag;
  if (outcome.admitted) {
    outcome.retry_after = 0;
    if (cost > 0) {
      counts.current += cost;
      room -= cost;
      write(state, counts);
    }
  } else if (cost <= capacity) {
    outcome.retry_after = wait(counts, cost);
  } else {
    outcome.retry_after.reset();
  }
  outcome.remaining = std::max<Cost>(0, room);
  const Ticks left = numbers_.alignment.window - counts.elapsed + counts.lag;
  outcome.reset_after = counts.current > 0 ? numbers_.alignment.window + left : counts.previous > 0 ? left : 0;
  if (outcome.remaining < capacity) {
    outcome.next_after = room >= 0 ? next(counts, weight) : wait(counts, 1);
  } else {
    outcome.next_after.reset();
  }
}

// Where what was charged at `at` is counted; nullptr: nowhere any more.
Cost* SlidingWindow::counter_of(Counts& counts, Ticks at) const {
  const Ticks start = numbers_.alignment.start_of(at);
  if (start == counts.start) return &counts.current;
  return start == counts.start - numbers_.alignment.window ? &counts.previous : nullptr;
}

void SlidingWindow::give_back(std::span<std::int64_t> state, Ticks now, Cost cost, Ticks at) const {
  Counts counts = look(state, now);
  Cost* counter = counter_of(counts, at);
  if (counter == nullptr) return;
  *counter -= std::min(cost, *counter);
  write(state, counts);
}

void SlidingWindow::take(std::span<std::int64_t> state, Ticks now, Cost cost, Ticks at) const {
  Counts counts = look(state, now);
  Cost* counter = counter_of(counts, at);
  if (counter == nullptr) return;
  *counter = std::min(*counter + cost, std::max(*counter, numbers_.capacity + numbers_.debt));
  write(state, counts);
}

bool SlidingWindow::is_initial(std::span<const std::int64_t> state, Ticks now) const {
  const Counts counts = look(state, now);
  return counts.previous == 0 && counts.current == 0;
}

void SlidingWindow::realign(std::span<std::int64_t> state, const Call& from, const Call& to) const {
  const Counts old = look(state, time(from));
  const Cost used = old.current + weigh(old).units;
  write(state, used == 0 ? Counts{0, 0, 0} : Counts{numbers_.alignment.start_of(time(to)), 0, used});
}

void SlidingWindow::carry(const SlidingWindow& from, std::span<const std::int64_t> old_state,
                          std::span<std::int64_t> state, const Call& call) const {
  if (numbers_.alignment == from.numbers_.alignment) {
    return write(state, {old_state[0], old_state[1], old_state[2]});
  }
  const Counts old = from.look(old_state, from.time(call));
  const Cost used = old.current + from.weigh(old).units;
  if (used == 0) return write(state, {0, 0, 0});
  write(state, {numbers_.alignment.start_of(time(call)), 0, std::min(used, numbers_.capacity)});
}

}  // namespace weir::limit
