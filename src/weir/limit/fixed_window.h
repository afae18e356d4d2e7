// SPDX-License-Identifier: Apache-2.0
//
// Fixed window: at most L units in each window of W ticks; all windows begin at the same instants (alignment.h), not
// at a subject's first request. The state is the window's begin and the units used in it.
//
// Guarantee: at most L in every window, so at most 2L in any W ticks (both sides of an edge). A clock that goes back
// stays in the window that was reached; after a step of more than a minute the count moves to the clock's window.
// Operations and their contract: as in token_bucket.h.
// Thread safety: an immutable value; the state belongs to whoever holds it.
#pragma once

#include <cstdint>
#include <span>

#include "weir/base/result.h"
#include "weir/limit/outcome.h"
#include "weir/limit/quota.h"
#include "weir/limit/window_numbers.h"

namespace weir::limit {

class FixedWindow {
 public:
  using Numbers = WindowNumbers;

  // Fails when a number is out of range.
  static Result<FixedWindow> create(const Numbers& numbers);

  static constexpr int state_words() { return 2; }
  Ticks time(const Call& call) const { return numbers_.alignment.time(call); }

  [[gnu::always_inline]] void step(std::span<std::int64_t> state, Ticks now, Cost cost, Outcome& outcome) const {
    Quota window = look(state, now);
    if (window.step(numbers_.capacity, now, cost, outcome)) write(state, window);
  }

  // Only while the window that was charged lasts.
  void give_back(std::span<std::int64_t> state, Ticks now, Cost cost, Ticks at) const;
  void take(std::span<std::int64_t> state, Ticks now, Cost cost, Ticks at) const;

  bool is_initial(std::span<const std::int64_t> state, Ticks now) const { return look(state, now).used == 0; }

  // Another L: the count stays. Another W or offset: it moves to the new window if the old one has not ended.
  void carry(const FixedWindow& from, std::span<const std::int64_t> old_state, std::span<std::int64_t> state,
             const Call& call) const;

  // The windows of the subject begin elsewhere: what is used moves from the one at `from` to the one at `to`, which
  // are the same instant with different phases.
  void realign(std::span<std::int64_t> state, const Call& from, const Call& to) const;

  Cost capacity() const { return numbers_.capacity; }
  const Numbers& numbers() const { return numbers_; }
  bool operator==(const FixedWindow&) const = default;

 private:
  explicit FixedWindow(const Numbers& numbers) : numbers_(numbers) {}

  // The window that counts at `now`.
  [[gnu::always_inline]] Quota look(std::span<const std::int64_t> state, Ticks now) const {
    const Quota window{state[0], state[0] + numbers_.alignment.window, state[1]};
    return window.has(now) ? window : look_away(window, now);
  }
  Quota look_away(const Quota& window, Ticks now) const;
  Quota window_of(Ticks at, Cost used) const {
    const Ticks start = numbers_.alignment.start_of(at);
    return {start, start + numbers_.alignment.window, used};
  }
  static void write(std::span<std::int64_t> state, const Quota& window) {
    state[0] = window.start;
    state[1] = window.used;
  }

  Numbers numbers_;
};

}  // namespace weir::limit
