// SPDX-License-Identifier: Apache-2.0
//
// Who waits in the lines of leaky buckets. The arithmetic (limit/leaky_bucket.h) says when a request may start; a
// line remembers those that have not started yet, so that they can move up when somebody before them goes away.
//
// What is charged to a line and who stands in it must change together: both happen under the lock of the subject.
// Thread safety: everything may be called from any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "weir/base/fingerprint.h"
#include "weir/limit/outcome.h"
#include "weir/store/memory/memory_store.h"

namespace weir::decide {

class Lines {
 public:
  // Whoever wants to know that a place has moved up. Called on any thread, under the lock: it only may pass this on.
  class Waiter {
   public:
    virtual void moved_up() = 0;

   protected:
    ~Waiter() = default;
  };

  // Names a line: a subject, and which of its counters (MemoryStore::counter_of).
  struct Key {
    Fingerprint subject;
    std::uint64_t counter = 0;
    bool operator==(const Key&) const = default;
  };

  // A place in a line. Ends when it is destroyed, which requires that the lock is not held.
  class Place {
   public:
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    limit::Ticks starts_at() const { return starts_at_.load(); }

   private:
    friend class Lines;
    Place(Lines& lines, const Key& key, limit::Ticks starts_at, Waiter& waiter)
        : lines_(lines), key_(key), starts_at_(starts_at), waiter_(waiter) {}

    Lines& lines_;
    const Key key_;
    std::atomic<limit::Ticks> starts_at_;
    Waiter& waiter_;
  };

  using Lock = std::unique_lock<std::mutex>;
  Lock lock(const Fingerprint& subject) { return Lock(shard_of(subject).mutex); }

  // Where the counter of a line is kept.
  struct Counter {
    store::MemoryStore::Kind kind;
    std::uint16_t slot = 0;
  };

  // Stands in line behind everybody else: starts not before `starts_at`, and not before the last one and `interval`.
  // Null when that is not after `now`: the request need not wait.
  // Requires of both: the lock of the subject is held.
  struct Arrival {
    limit::Ticks now = 0;
    limit::Ticks starts_at = 0;
    limit::Ticks interval = 0;
  };
  std::unique_ptr<Place> join(const Key& key, const Counter& counter, const Arrival& arrival, Waiter& waiter);
  // Everybody who starts after `after` starts earlier by `by`.
  void move_up(const Key& key, limit::Ticks after, limit::Ticks by);

  // The rules may have changed: `starts(subject, counter, waiting)` says when the first of a line and each one after
  // it may start now. Nobody starts later than before.
  struct Schedule {
    limit::Ticks first = 0;
    limit::Ticks interval = 0;
  };
  using Starts = std::function<Schedule(const Fingerprint& subject, const Counter& counter, std::size_t waiting)>;
  void reschedule(const Starts& starts);

  // How many wait.
  std::size_t size() const;

 private:
  static constexpr std::size_t kShards = 64;

  struct KeyHash {
    std::size_t operator()(const Key& key) const { return key.subject.low ^ key.counter; }
  };
  struct Line {
    Counter counter;
    std::vector<Place*> places;  // in the order in which they start
  };
  struct Shard {
    mutable std::mutex mutex;
    std::unordered_map<Key, Line, KeyHash> lines;
  };
  Shard& shard_of(const Fingerprint& subject) { return shards_[subject.high % kShards]; }

  std::array<Shard, kShards> shards_;
};

}  // namespace weir::decide
