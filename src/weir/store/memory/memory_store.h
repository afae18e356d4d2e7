// SPDX-License-Identifier: Apache-2.0
//
// Counters in this process. A record per account, found by a keyed 128-bit fingerprint, in shards of flat
// open-addressing tables with one lock each; all slots of an account sit in one record under one lock. Records that
// are full again are swept. A missing record is a full one, so only an admitted cost above zero creates a record.
//
// Memory is bounded. At the bound the kind with the most accounts gives: of sixteen records in turn those that are
// full go, or else the one that is nearest to it (evictions are counted). So a bucket with a long wait outlives any
// number of new subjects that took little: to push it out, an attacker must fill the table with records that wait
// even longer, and each of those costs him as many admitted requests as it takes to empty it.
//
// A new layout of a known kind (after a reload) takes over the counters of the old one slot by slot: unchanged limits
// keep their state to the bit, changed ones carry the used amount, removed ones are dropped. Calls that still use
// the old layout are answered by the new numbers; a limit that was removed admits them.
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
    std::uint64_t max_accounts = 10'000'000;
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

  // Begins to fetch the subject's record into the cache. For a caller that knows the subject some time before it
  // asks: with a million accounts, waiting for memory is most of a decision.
  void prefetch(const Kind& kind, const Fingerprint& subject) const;

  // Decides all charges in one step: all are admitted and taken, or nothing is. outcomes[i] belongs to charges[i]; in
  // a refused call the outcomes of the limits that would have admitted show their unchanged state (admitted = true).
  // Returns whether the request is admitted. Cost 0 peeks and writes nothing.
  // Requires: outcomes.size() == charges.size() <= 64, slots of one call are different, `now` >= 0.
  bool acquire(const Kind& kind, const Fingerprint& subject, std::span<const Charge> charges, limit::Ticks now,
               std::span<limit::Outcome> outcomes);

  // Takes back charges that were admitted. A missing record is a full one: nothing happens.
  void give_back(const Kind& kind, const Fingerprint& subject, std::span<const Charge> charges, limit::Ticks now);

  // Forgets everything that is counted for the subject.
  void reset(const Kind& kind, const Fingerprint& subject);

  // Drops records that are full again from the next shard in turn; returns how many. Meant to be called
  // regularly: `shards()` calls visit every table once.
  std::size_t sweep(limit::Ticks now);
  std::size_t shards() const;

  struct Stats {
    std::uint64_t accounts = 0;
    std::uint64_t bytes = 0;      // of all tables
    std::uint64_t evictions = 0;  // records dropped before they were full, because the bound was reached
  };
  Stats stats() const;

 private:
  struct Call;
  bool acquire_long_way(const Call& call);
  bool acquire_by_new_numbers(const Call& call);

  struct Private;
  std::unique_ptr<Private> private_;
};

}  // namespace weir::store
