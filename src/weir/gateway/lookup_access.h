// SPDX-License-Identifier: Apache-2.0
//
// The policies as one worker reaches them: requests wait here for what is being looked up on other threads, each for
// so long and no longer. Thread safety: the worker's thread; the directory outlives it.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "weir/base/clock.h"
#include "weir/io/event_loop.h"
#include "weir/io/task.h"
#include "weir/io/waiter.h"
#include "weir/lookup/directory.h"

namespace weir::gateway {

class LookupAccess {
 public:
  LookupAccess(io::EventLoop& loop, lookup::Directory& directory) : loop_(loop), directory_(directory) {}

  lookup::Directory& directory() { return directory_; }

  // Until it was looked up, or the time is over. Null: there is no use in waiting any longer. `subject` lives as
  // long as the task.
  io::Task<lookup::KnownPtr> wait(const partners::Subject& subject, Instant deadline);
  // Whoever waits goes on, and nobody waits any more.
  void shut();

 private:
  struct Waiting {
    io::Waiter& wake;
    lookup::KnownPtr known;
  };
  void land(std::uint64_t ticket, lookup::KnownPtr known);

  io::EventLoop& loop_;
  lookup::Directory& directory_;
  std::unordered_map<std::uint64_t, Waiting*> waiting_;
  std::uint64_t tickets_ = 0;
  bool shut_ = false;
};

}  // namespace weir::gateway
