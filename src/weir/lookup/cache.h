// SPDX-License-Identifier: Apache-2.0
//
// What is known of the policies, in this process: found by a keyed fingerprint, in shards with one lock each. Entries
// age, each at a slightly different pace, so that what came together is not looked up again together. An entry that
// has expired stays, since it is better than nothing when the database is away; room is made when the bound is
// reached: of those that were not asked for since the hand came by, the next one goes.
// Thread safety: any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "weir/base/fingerprint.h"
#include "weir/base/spin_lock.h"
#include "weir/lookup/known.h"
#include "weir/lookup/slot_table.h"

namespace weir::lookup {

class Cache {
 public:
  // `most`: about the weight of all entries; one weighs 1, and 1 more for each of its rows. Each shard keeps to its
  // part of it, but always has room for what came last.
  Cache(std::size_t most, const Lifetimes& lifetimes);

  Found find(const partners::Subject& subject, Instant now);
  // The database has said this just now. Returns what is known now: what was known already and is equal stays the
  // same object. `revision`: of the database when it said so, `age`: how long ago that was. Null, and nothing is
  // kept: the subject has, or may have, changed since (see expire), or it is older than half a life: it must be
  // looked up again.
  KnownPtr put(const partners::Subject& subject, partners::Record record, std::int64_t revision, Instant now,
               nanoseconds age = {});
  // As put, for what was known to an earlier process: it has expired already.
  void restore(const partners::Subject& subject, partners::Record record, std::int64_t revision);
  // Puts another form of the same knowledge in its place, unless that has changed meanwhile.
  void replace(const partners::Subject& subject, const KnownPtr& before, KnownPtr after);
  // The subject has changed with this revision: what is older has expired, and is not taken from anybody any more.
  // True when it is known here.
  bool expire(const partners::Subject& subject, std::int64_t revision);
  // The database has gone back: it was replaced, or restored. What is of a later revision than `newest` has expired,
  // and gives way to whatever the database says now.
  void rewind(std::int64_t newest);
  // Of changes that have been forgotten, because their entries gave way, the newest: what others know must be newer.
  std::int64_t forgotten() const { return forgotten_.load(std::memory_order_relaxed); }

  // Calls `visit` for everything that is known and not absent, without holding anybody up.
  using Visit = std::function<void(const partners::Subject&, const partners::Record&, std::int64_t revision)>;
  void each(const Visit& visit) const;

  std::size_t size() const { return size_.load(std::memory_order_relaxed); }
  std::uint64_t evictions() const { return evictions_.load(std::memory_order_relaxed); }
  // Grows with every entry that becomes another.
  std::uint64_t changes() const { return changes_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kMostShards = 256;
  static constexpr std::size_t kLeastOfShard = 64;  // below, shards would fill too unevenly

  // What requests do not look at.
  struct Entry {
    Fingerprint print;
    partners::Subject subject;
    std::int64_t revision = 0;
    std::int64_t least_revision = 0;
    std::uint32_t weight = 1;
  };
  struct alignas(64) Shard {
    SpinLock lock;  // a mutex costs a look-up twice as much
    SlotTable slots;
    std::vector<Entry> entries;  // one for each slot; the hand goes round
    std::size_t hand = 0;
    std::size_t weight = 0;
  };
  // One that is there. Invalid when another one is added or erased.
  struct Place {
    Slot& slot;
    Entry& entry;
  };

  Fingerprint print_of(const partners::Subject& subject) const;
  Shard& shard_of(const Fingerprint& print) const { return shards_[print.high & last_shard_]; }
  bool is_outdated(Shard& shard, const Fingerprint& print, std::int64_t revision) const;
  Place place_of(Shard& shard, const Fingerprint& print, const partners::Subject& subject);
  void set(Shard& shard, const Place& place, partners::Record record);
  void believe(Slot& slot, Instant since) const;
  void make_room(Shard& shard, const Fingerprint& kept);
  void erase(Shard& shard, std::size_t entry);
  void forget(std::int64_t change);

  const std::size_t last_shard_;  // their number, a power of two, less one
  const std::size_t most_;        // of a shard
  const Lifetimes lifetimes_;
  const FingerprintKey key_ = FingerprintKey::random();
  mutable std::array<Shard, kMostShards> shards_;
  std::atomic<std::size_t> size_{0};
  std::atomic<std::uint64_t> evictions_{0};
  std::atomic<std::uint64_t> changes_{0};
  std::atomic<std::int64_t> forgotten_{0};
};

}  // namespace weir::lookup
