// SPDX-License-Identifier: Apache-2.0
//
// Sliding log: every admitted charge of the last W ticks is remembered, and their sum is at most L. The state is one
// word that owns a queue of (instant, running total), 16 bytes for each instant at which something was admitted;
// charges of the same instant share an entry. A step finds its way by bisection.
//
// Guarantee: at most L in any half-open interval of W ticks, and nothing is refused that this would allow. A clock
// that goes back counts as standing still at the newest entry; after a step of more than a minute all entries move
// with it.
//
// A step comes in two halves, so that a request with several limits writes only when all have admitted: `decide` says
// what would happen, `commit` does it. Operations and their contract otherwise: as in token_bucket.h.
// Thread safety: an immutable value; the state belongs to whoever holds it, who must `release` it.
#pragma once

#include <cstdint>
#include <span>

#include "weir/base/result.h"
#include "weir/limit/entries.h"
#include "weir/limit/outcome.h"
#include "weir/limit/ranges.h"

namespace weir::limit {

class SlidingLog {
 public:
  static constexpr Cost kMaxCapacity = 10'000;  // it bounds the memory of a subject

  struct Numbers {
    Cost capacity = 0;  // L, 0 to kMaxCapacity
    Ticks window = 0;   // W, 1 ms to 400 days
    Ticks ticks_per_second = 1'000'000'000;
    Cost debt = 0;  // D: how far take may go above L
    bool operator==(const Numbers&) const = default;
  };

  static Result<SlidingLog> create(const Numbers& numbers);

  static constexpr int state_words() { return 1; }
  Ticks time(const Call& call) const { return call.now; }

  // `outcome` as after the commit that follows if it is admitted. Writes only to repair, and never for cost 0.
  void decide(std::span<std::int64_t> state, const Call& call, Cost cost, Outcome& outcome) const;
  // Requires: decide has admitted the same at the same time, cost > 0.
  void commit(std::span<std::int64_t> state, const Call& call, Cost cost) const;

  // In the entry of the charge, while it counts; a charge of nothing has none, and gets one when more is taken.
  void give_back(std::span<std::int64_t> state, Ticks now, Cost cost, Ticks at) const;
  void take(std::span<std::int64_t> state, Ticks now, Cost cost, Ticks at) const;

  bool is_initial(std::span<const std::int64_t> state, Ticks now) const;

  // L and W hold at once; a longer W does not bring back what was dropped. Takes the entries from `old_state`.
  void carry(const SlidingLog& from, std::span<const std::int64_t> old_state, std::span<std::int64_t> state,
             const Call& call) const;

  static void release(std::span<std::int64_t> state);
  static std::uint64_t owned_bytes(std::span<const std::int64_t> state);

  Cost capacity() const { return numbers_.capacity; }
  const Numbers& numbers() const { return numbers_; }
  bool operator==(const SlidingLog&) const = default;

 private:
  struct Entry {
    Ticks at;
    Cost total;  // of this entry and all before it
  };
  struct Note {
    Cost dropped;  // the total of the last entry that was dropped
  };
  using Log = Entries<Entry, Note>;
  class View;

  explicit SlidingLog(const Numbers& numbers) : numbers_(numbers) {}
  void repair(Log& log, Ticks now) const;
  static Cost total_before(const Log& log, std::uint32_t at) {
    return at == 0 ? log.note().dropped : log[at - 1].total;
  }
  static void change(Log& log, std::uint32_t at, Cost by);

  Numbers numbers_;
};

}  // namespace weir::limit
