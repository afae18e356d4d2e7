// SPDX-License-Identifier: Apache-2.0
//
// Notices what has changed in the database: asks for changes above the last revision it has seen, regularly and
// whenever it is told to, on a thread of its own. What others told while it could not ask is caught up with.
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "weir/base/clock.h"
#include "weir/partners/source.h"

namespace weir::lookup {

class Watcher {
 public:
  static constexpr std::size_t kMostTogether = 1000;

  struct Owner {
    std::function<std::unique_ptr<partners::Source>()> open;
    // Called by the watcher's thread: the revision at which it begins. Again, if the database has gone back.
    std::function<void(std::int64_t newest)> began;
    // In their order.
    std::function<void(std::span<const partners::Change>)> changed;
  };

  // `every`: how long nobody notices a change of which nobody tells.
  Watcher(nanoseconds every, Owner owner);
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  void look_now();
  // It looks no more.
  void shut();
  // Of the newest change that it has passed on; -1 while it could not look yet.
  std::int64_t revision() const { return revision_.load(std::memory_order_relaxed); }
  std::uint64_t failures() const { return failures_.load(std::memory_order_relaxed); }

 private:
  void run();
  bool look(partners::Source& source);
  void begin_at(std::int64_t newest);

  const nanoseconds every_;
  const Owner owner_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool told_ = false;
  bool stopping_ = false;
  std::atomic<std::int64_t> revision_{-1};
  std::atomic<std::uint64_t> failures_{0};
  std::thread thread_;
};

}  // namespace weir::lookup
