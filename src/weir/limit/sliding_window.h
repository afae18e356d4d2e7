// SPDX-License-Identifier: Apache-2.0
//
// Sliding window by two counters: the units of the current window, plus those of the one before weighted by how much
// of it a trailing window would still cover, are at most L. The inequality is decided in integers, without rounding.
// The state is the window's begin and the two counts.
//
// Guarantee: at most 2L - 1 in any W ticks; it takes the units of the window before as evenly spread, so it can also
// refuse what an exact log would admit. A clock that goes back stands still at the begin of the window that was
// reached; after a step of more than a minute both counts, in full, become that of the clock's window.
// Operations and their contract: as in token_bucket.h.
// Thread safety: an immutable value; the state belongs to whoever holds it.
#pragma once

#include <cstdint>
#include <span>

#include "weir/base/result.h"
#include "weir/limit/outcome.h"
#include "weir/limit/window_numbers.h"

namespace weir::limit {

class SlidingWindow {
 public:
  using Numbers = WindowNumbers;

  // Fails when a number is out of range.
  static Result<SlidingWindow> create(const Numbers& numbers);

  static constexpr int state_words() { return 3; }
  Ticks time(const Call& call) const { return numbers_.alignment.time(call); }

  void step(std::span<std::int64_t> state, Ticks now, Cost cost, Outcome& outcome) const;

  // In the count of the window that was charged, while it has any weight.
  void give_back(std::span<std::int64_t> state, Ticks now, Cost cost, Ticks at) const;
  void take(std::span<std::int64_t> state, Ticks now, Cost cost, Ticks at) const;

  bool is_initial(std::span<const std::int64_t> state, Ticks now) const;

  // Another L: the counts stay. Another W or offset: what was used, weighted, moves to the new window.
  void carry(const SlidingWindow& from, std::span<const std::int64_t> old_state, std::span<std::int64_t> state,
             const Call& call) const;

  // The windows of the subject begin elsewhere: what is used moves from the one at `from` to the one at `to`, which
  // are the same instant with different phases.
  void realign(std::span<std::int64_t> state, const Call& from, const Call& to) const;

  Cost capacity() const { return numbers_.capacity; }
  const Numbers& numbers() const { return numbers_; }
  bool operator==(const SlidingWindow&) const = default;

 private:
  struct Counts {
    Ticks start;
    Cost previous;
    Cost current;
    Ticks elapsed = 0;  // of the current window
    Ticks lag = 0;      // of the clock behind the window's begin
    bool repaired = false;
  };

  explicit SlidingWindow(const Numbers& numbers) : numbers_(numbers) {}

  Counts look(std::span<const std::int64_t> state, Ticks now) const;
  Counts look_back(Counts counts, Ticks now) const;
  // A weighted count, and how much of its last unit there is: 1 to W ticks' worth of previous units.
  struct Weight {
    Cost units;
    Ticks excess;
  };
  Weight weigh(const Counts& counts) const;
  Ticks next(const Counts& counts, const Weight& weight) const;
  Ticks wait(const Counts& counts, Cost cost) const;
  Cost* counter_of(Counts& counts, Ticks at) const;
  static void write(std::span<std::int64_t> state, const Counts& counts) {
    state[0] = counts.start;
    state[1] = counts.previous;
    state[2] = counts.current;
  }

  Numbers numbers_;
};

}  // namespace weir::limit
