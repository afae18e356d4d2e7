// SPDX-License-Identifier: Apache-2.0
//
// A limit: one of the algorithms with its numbers, validated once so that no step can overflow. The alternatives of
// the variant share one set of operations; see token_bucket.h for their contract. What differs: two algorithms keep a
// list that their state owns (keeps_entries), and decide and commit in two halves.
//
// A state is state_words() words that the caller keeps, all zero at first; a span of more words will do. It must only
// be given to equal limits, or through `carry`. No call reads a clock or fails. docs/algorithms.md compares the
// algorithms, examples/library has whole programs.
// Thread safety: an immutable value; the state belongs to whoever holds it.
#pragma once

#include <concepts>
#include <span>
#include <utility>
#include <variant>

#include "weir/limit/calendar_quota.h"
#include "weir/limit/concurrency.h"
#include "weir/limit/fixed_window.h"
#include "weir/limit/leaky_bucket.h"
#include "weir/limit/sliding_log.h"
#include "weir/limit/sliding_window.h"
#include "weir/limit/token_bucket.h"

namespace weir::limit {

class Limit {
 public:
  using Algorithm =
      std::variant<TokenBucket, FixedWindow, SlidingWindow, SlidingLog, LeakyBucket, Concurrency, CalendarQuota>;
  static constexpr int kMaxStateWords = 3;

  template <class A>
    requires std::constructible_from<Algorithm, A>
  Limit(A algorithm) : algorithm_(std::move(algorithm)) {}  // NOLINT: a bucket is a limit

  // Words of a state; all zero: never used.
  int state_words() const;
  // Whether the state owns memory, which `release` gives back.
  bool keeps_entries() const { return holds<SlidingLog>() || holds<Concurrency>(); }
  // Whether Call::phase matters.
  bool has_jitter() const;

  // One decision, taken at once. The state changes only when it admits a cost above zero, or to repair itself.
  // Requires: 0 <= call.now <= kMaxNowSeconds, 0 <= call.wall, 0 <= cost <= kMaxUnits.
  [[gnu::always_inline]] void step(std::span<std::int64_t> state, const Call& call, Cost cost,
                                   Outcome& outcome) const {
    // The common alternatives first: a visit costs as much as the step.
    if (const auto* bucket = std::get_if<TokenBucket>(&algorithm_)) {
      return bucket->step(state, call.now, cost, outcome);
    }
    if (const auto* window = std::get_if<FixedWindow>(&algorithm_)) {
      return window->step(state, window->time(call), cost, outcome);
    }
    if (const auto* window = std::get_if<SlidingWindow>(&algorithm_)) {
      return window->step(state, window->time(call), cost, outcome);
    }
    step_other(state, call, cost, outcome);
  }
  Outcome step(std::span<std::int64_t> state, const Call& call, Cost cost) const {
    Outcome outcome;
    step(state, call, cost, outcome);
    return outcome;
  }

  // The two halves of a step of a limit that keeps entries. Requires: keeps_entries(), and of commit: decide has
  // admitted the same since the state changed, cost > 0.
  void decide(std::span<std::int64_t> state, const Call& call, Cost cost, Outcome& outcome) const;
  void commit(std::span<std::int64_t> state, const Call& call, Cost cost) const;

  // What a peek says: a step of cost 0, which writes nothing.
  Outcome peek(std::span<const std::int64_t> state, const Call& call) const;

  // Takes back a cost that was admitted, where it was counted (`at`: Outcome::at) and while it counts there; of a
  // concurrency limit, ends the lease of the call.
  void give_back(std::span<std::int64_t> state, const Call& call, Cost cost, Ticks at) const;

  // Takes more than was admitted at `at`, whether it is there or not: down to the debt that the numbers allow. Not
  // for leaky buckets and concurrency limits.
  void take(std::span<std::int64_t> state, const Call& call, Cost cost, Ticks at) const;

  // Lets the lease of the call last from now again, for `least` at least. False when it has ended or the limit has no
  // leases.
  bool renew(std::span<std::int64_t> state, const Call& call, Ticks least = 0) const;

  // True when the state equals "never used", so that it may be forgotten.
  bool is_initial(std::span<const std::int64_t> state, const Call& call) const {
    if (const auto* bucket = std::get_if<TokenBucket>(&algorithm_)) return bucket->is_initial(state, call.now);
    return is_initial_other(state, call);
  }

  // Writes `state`, which is all zero, so that this limit goes on where `from` was: the used amount is carried, never
  // more than the capacity, and equal numbers change nothing. Another algorithm starts afresh. Takes over what
  // `old_state` owned.
  void carry(const Limit& from, std::span<std::int64_t> old_state, std::span<std::int64_t> state,
             const Call& call) const;

  // The subject's phase turns out to be that of `to`, not that of `from`; the rest of the two is the same. What is
  // used moves to the window of now. Nothing without jitter.
  void realign(std::span<std::int64_t> state, const Call& from, const Call& to) const;

  // Gives back what the state owns, and makes it the initial one.
  void release(std::span<std::int64_t> state) const;
  std::uint64_t owned_bytes(std::span<const std::int64_t> state) const;

  Cost capacity() const;

  template <class A>
  bool holds() const {
    return std::holds_alternative<A>(algorithm_);
  }
  const Algorithm& algorithm() const { return algorithm_; }
  bool operator==(const Limit&) const = default;

 private:
  bool is_initial_other(std::span<const std::int64_t> state, const Call& call) const;
  void step_other(std::span<std::int64_t> state, const Call& call, Cost cost, Outcome& outcome) const;

  Algorithm algorithm_;
};

}  // namespace weir::limit
