// SPDX-License-Identifier: Apache-2.0
//
// Keeps the snapshot on disk: reads it once, and writes it again, on a thread of its own, when something has changed
// since. Whoever only looks leaves it as it is. Thread safety: one thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "weir/base/clock.h"
#include "weir/lookup/cache.h"

namespace weir::lookup {

class SnapshotKeeper {
 public:
  // Puts what is in the snapshot into the cache, which outlives the keeper. `path`: empty: there is none.
  // `every`: how often it may be written; 0: never.
  SnapshotKeeper(std::string path, nanoseconds every, Cache& cache);
  // Writes for the last time.
  ~SnapshotKeeper();
  SnapshotKeeper(const SnapshotKeeper&) = delete;
  SnapshotKeeper& operator=(const SnapshotKeeper&) = delete;

 private:
  void load();
  void run();
  void write();

  const std::string path_;
  const nanoseconds every_;
  Cache& cache_;
  std::uint64_t written_ = 0;  // Cache::changes of what is on disk
  bool failed_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace weir::lookup
