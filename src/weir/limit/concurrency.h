// SPDX-License-Identifier: Apache-2.0
//
// Concurrency: at most L units held at the same time. What is held is a lease, named by Call::lease: it ends when it
// is given back, or by itself after `lease` ticks without `renew`, so that a holder that vanished does not keep its
// place. The same name taken twice is one lease. The state is one word that owns a list of leases, 32 bytes each; a
// step looks at all of them.
//
// Guarantee: the leases that are alive never exceed L. When a place becomes free cannot be computed, so retry_after
// is a hint of one second and next_after is absent; reset_after is the end of the longest lease. A clock that goes
// back makes leases longer; by more than a minute, and they last from now again.
// Operations and their contract otherwise: as in sliding_log.h; there is no `take`.
// Thread safety: an immutable value; the state belongs to whoever holds it, who must `release` it.
#pragma once

#include <cstdint>
#include <span>

#include "weir/base/result.h"
#include "weir/limit/entries.h"
#include "weir/limit/outcome.h"
#include "weir/limit/ranges.h"

namespace weir::limit {

class Concurrency {
 public:
  static constexpr Cost kMaxCapacity = 1'000'000;  // it bounds the memory of a subject

  struct Numbers {
    Cost capacity = 0;  // L, 0 to kMaxCapacity
    Ticks lease = 0;    // 1 ms to 400 days
    Ticks ticks_per_second = 1'000'000'000;
    bool operator==(const Numbers&) const = default;
  };

  static Result<Concurrency> create(const Numbers& numbers);

  static constexpr int state_words() { return 1; }
  Ticks time(const Call& call) const { return call.now; }

  // Requires of both: call.lease is not zero, unless cost is 0.
  void decide(std::span<std::int64_t> state, const Call& call, Cost cost, Outcome& outcome) const;
  void commit(std::span<std::int64_t> state, const Call& call, Cost cost) const;

  // Ends the lease. False when there is none of this name (any more).
  bool end(std::span<std::int64_t> state, const Call& call) const;
  // The lease lasts from now again, and at least for `least`: what its holder was promised, if that was more. False
  // when there is none of this name (any more).
  bool renew(std::span<std::int64_t> state, const Call& call, Ticks least = 0) const;

  bool is_initial(std::span<const std::int64_t> state, Ticks now) const;

  // L and the time of a lease hold for new ones; nobody loses a lease. Takes the list from `old_state`.
  void carry(const Concurrency& from, std::span<const std::int64_t> old_state, std::span<std::int64_t> state,
             const Call& call) const;

  static void release(std::span<std::int64_t> state);
  static std::uint64_t owned_bytes(std::span<const std::int64_t> state);

  Cost capacity() const { return numbers_.capacity; }
  const Numbers& numbers() const { return numbers_; }
  bool operator==(const Concurrency&) const = default;

 private:
  struct Lease {
    LeaseId id;
    Cost cost;
    Ticks ends_at;
  };
  struct Note {
    Ticks longest;  // lease that was given
  };
  using Leases = Entries<Lease, Note>;

  explicit Concurrency(const Numbers& numbers) : numbers_(numbers) {}
  Ticks latest_end(const Leases& leases, Ticks now) const;
  static std::uint32_t find(const Leases& leases, const Call& call);

  Numbers numbers_;
};

}  // namespace weir::limit
