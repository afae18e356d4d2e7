// SPDX-License-Identifier: Apache-2.0
//
// The policies as requests see them: what is known in this process, and if it is not known or no longer fresh, what
// Redis knows, and if that does not, what the database says. Whatever is wanted is looked up once, however many wait
// for it. When Redis fails the database answers; when the database fails, what was known last holds; what a process
// has known outlives it in a snapshot on disk. A change is noticed by its revision (watcher.h) and looked up at once
// where it was known.
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "weir/lookup/cache.h"
#include "weir/lookup/reader.h"
#include "weir/lookup/shared_cache.h"
#include "weir/lookup/snapshot_keeper.h"
#include "weir/lookup/watcher.h"

namespace weir::lookup {

class Directory {
 public:
  struct Settings {
    Lifetimes lifetimes;
    std::size_t most = 100'000;                             // weight of what is known here; see Cache
    std::size_t readers = 2;                                // connections for look-ups
    nanoseconds poll = std::chrono::seconds(1);             // how long a change goes unnoticed
    std::string snapshot;                                   // path; empty: none
    nanoseconds snapshot_every = std::chrono::seconds(30);  // 0: it is only read
  };
  // A connection to the database of its own, for one thread.
  using Open = std::function<std::unique_ptr<partners::Source>()>;
  // The Redis of all gateways, which is to call `told` when a change is announced; null: there is none.
  using OpenShared = std::function<std::unique_ptr<SharedCache>(std::function<void()> told)>;
  using Done = std::function<void(KnownPtr known)>;

  Directory(const Clock& clock, Settings settings, Open open, const OpenShared& open_shared);
  ~Directory();
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  // What is known now. What is due is looked up in the background.
  Found find(const partners::Subject& subject, Instant now);
  // Another form of the same knowledge: rows compiled for a newer generation.
  void replace(const partners::Subject& subject, const KnownPtr& before, KnownPtr after) {
    cache_.replace(subject, before, std::move(after));
  }
  // Looks it up. `done` is called once, on any thread, with what is known now, which need not be in the cache any
  // more; null when neither Redis nor the database has answered.
  void want(const partners::Subject& subject, Done done);
  // Somebody has changed something here: all gateways are told, this one first.
  void announce();

  struct Stats {
    std::uint64_t shared_hits = 0;  // look-ups that Redis answered
    std::uint64_t queries = 0;      // of the database, each for many
    std::uint64_t failures = 0;     // of these
    std::uint64_t entries = 0;      // known here
    std::uint64_t evictions = 0;
    std::int64_t revision = -1;  // of the newest change that was noticed; -1: none could be yet
    bool up = true;              // the database has answered last
  };
  Stats stats() const;

 private:
  void look_up(const partners::Subject& subject);
  KnownPtr take_shared(const partners::Subject& subject, Said said);
  void land(const partners::Subject& subject, const KnownPtr& known);
  std::vector<Reader::Taken> take_in(const std::vector<partners::Subject>& subjects, partners::Reading reading);
  void begin_at(std::int64_t newest);
  void take_changes(std::span<const partners::Change> changes);
  const Clock& clock_;
  const Settings settings_;
  Cache cache_;
  std::mutex flights_mutex_;
  std::map<partners::Subject, std::vector<Done>> flights_;  // that are being looked up, and who waits
  std::atomic<std::uint64_t> shared_hits_{0};
  std::atomic<bool> up_{true};
  // Revisions that values of others must have: not older than what may have been missed, and not newer than what is
  // known to exist.
  std::atomic<std::int64_t> floor_{INT64_MAX};
  SnapshotKeeper snapshot_;
  std::unique_ptr<SharedCache> shared_;
  std::unique_ptr<Reader> reader_;
  std::unique_ptr<Watcher> watcher_;
};

}  // namespace weir::lookup
