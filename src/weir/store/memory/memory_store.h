// SPDX-License-Identifier: Apache-2.0
//
// Counters in this process. A record per account, found by a keyed 128-bit fingerprint, in shards of flat
// open-addressing tables with one lock each; all slots of an account sit in one record under one lock. Records that
// are full again are swept. A missing record is a full one, so only an admitted cost above zero creates a record.
//
// Memory is bounded. At the bound the kind with the most accounts gives: of sixteen records in turn those that are
// full go, or else the one that is nearest to it (evictions are counted). So a bucket with a long wait outlives any
// number of new subjects that took little: to push it out, an attacker must fill the table with records that wait
// even longer, and each of those costs him as many admitted requests as it takes to empty it. Accounts of expendable
// kinds go before all others; where only others are left, an expendable one is not kept at all.
//
// A new layout of a known kind (after a reload) takes over the counters of the old one slot by slot: unchanged limits
// keep their state to the bit, changed ones carry the used amount, removed ones are dropped. Calls that still use
// the old layout are answered by the new numbers; a limit that was removed admits them.
//
// Nothing here reads a clock or starts a thread. To use it: `adopt` a Layout for each kind of account, `acquire` for
// each request with the `subject` it is of (examples/library/two_limits.cc), and in a long-lived program `sweep`.
//
// `call` (limit/outcome.h) has the clocks, the subject's phase and the request's lease; sweep needs the clocks only.
//
// Thread safety: everything may be called from any thread. Calls with the same account are atomic.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "weir/base/fingerprint.h"
#include "weir/limit/outcome.h"
#include "weir/store/account.h"

namespace weir::store {

class Generation;

class MemoryStore {
 public:
  // A kind of account with the layout that is in force for it. Handles stay valid as long as the store.
  class Table;

  struct Options {
    std::uint64_t max_accounts = 10'000'000;  // of all kinds together
    FingerprintKey key = FingerprintKey::random();
  };

  explicit MemoryStore(const Options& options);
  ~MemoryStore();
  MemoryStore(const MemoryStore&) = delete;
  MemoryStore& operator=(const MemoryStore&) = delete;

  // One generation of one kind of account: what a compiled configuration holds. Copies are cheap.
  class Kind {
   public:
    bool operator==(const Kind&) const = default;

   private:
    friend class MemoryStore;
    Table* table_ = nullptr;
    const Generation* generation_ = nullptr;
  };

  // Puts a layout in force for its kind. The same layout again returns an equal Kind.
  Kind adopt(const Layout& layout);

  // The fingerprint of a subject. The values must be joined unambiguously by the caller.
  Fingerprint subject(std::string_view joined_values) const;

  // A number for this counter that stays the same across reloads.
  static std::uint64_t counter_of(const Kind& kind, std::uint16_t slot);

  // Begins to fetch the subject's record into the cache. For a caller that knows the subject some time before it
  // asks: with a million accounts, waiting for memory is most of a decision.
  void prefetch(const Kind& kind, const Fingerprint& subject) const;

  // Decides all charges in one step: all are admitted and taken, or nothing is. outcomes[i] belongs to charges[i]; in
  // a refused call the outcomes of the limits that would have admitted show their unchanged state (admitted = true).
  // Returns whether the request is admitted. Cost 0 peeks and writes nothing. Charges of the same slot are one charge
  // of their sum (with the variant of the first), and share its outcome. Requires: outcomes.size() == charges.size()
  // <= 64, the clocks are not negative, and call.lease is not zero if a charge is of a concurrency limit.
  bool acquire(const Kind& kind, const Fingerprint& subject, std::span<const Charge> charges, const limit::Call& call,
               std::span<limit::Outcome> outcomes);

  // Changes what charges took, in one step, where they were counted and while they count there; what no limit would
  // admit is taken as well, down to the limit's debt. Of concurrency limits, what is given back ends the lease of the
  // call. outcomes[i], if there are any, is what adjustments[i]'s limit says afterwards to a cost of 0. A missing
  // record is a full one: there is nothing to change.
  // Requires: outcomes is empty or outcomes.size() == adjustments.size().
  void adjust(const Kind& kind, const Fingerprint& subject, std::span<const Adjustment> adjustments,
              const limit::Call& call, std::span<limit::Outcome> outcomes = {});

  // What counts for this counter now, by the layout in force, and what it says to a cost of 0. Without a limit: it
  // was removed.
  struct Look {
    const limit::Limit* limit = nullptr;  // as long as the store
    limit::Outcome outcome{};
    std::uint32_t variant = 0;  // that the limit is
    bool used = false;          // something is counted
    limit::Outcome asked{};     // what a request of `cost` would be told; not of limits that keep entries
  };
  Look look(const Kind& kind, const Fingerprint& subject, std::uint16_t slot, const limit::Call& call,
            limit::Cost cost = 0);

  // Lets the leases of the call last from now again, in all concurrency limits that are charged. False when one of
  // them has ended.
  bool renew(const Kind& kind, const Fingerprint& subject, std::span<const Charge> charges, const limit::Call& call);

  // Forgets everything that is counted for the subject.
  void reset(const Kind& kind, const Fingerprint& subject);

  // Drops records that are full again from the next shard in turn; returns how many. Meant to be called
  // regularly: `shards()` calls visit every table once.
  std::size_t sweep(const limit::Call& call);
  std::size_t shards() const;

  struct Stats {
    std::uint64_t accounts = 0;
    std::uint64_t bytes = 0;      // of all tables, and of the lists that limits keep
    std::uint64_t evictions = 0;  // records dropped before they were full, because the bound was reached
  };
  Stats stats() const;

 private:
  struct Request;
  struct Changes;
  bool acquire_summed(const Request& request);
  bool acquire_long_way(const Request& request);
  bool acquire_by_new_numbers(const Request& request);

  struct Private;
  std::unique_ptr<Private> private_;
};

}  // namespace weir::store
