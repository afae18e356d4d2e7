// SPDX-License-Identifier: Apache-2.0
//
// Reads records out of the database on threads of its own, each with its own connection: whatever is wanted when a
// thread comes free is read together, in one query per kind. While the database is away nothing is wanted of it but
// one thing at a time, and after a moment: so it costs nobody any waiting. What is wanted is bounded: who comes when
// too much is gets no answer, and keys, of which anybody can make up as many as he likes, never crowd out the rest.
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "weir/base/clock.h"
#include "weir/lookup/known.h"
#include "weir/partners/source.h"

namespace weir::lookup {

class Reader {
 public:
  static constexpr std::size_t kMostTogether = 256;
  static constexpr std::size_t kMostWanted = 8192;  // of keys, and of all others
  static constexpr nanoseconds kRestAfterFailure = std::chrono::milliseconds(500);

  struct Taken {
    KnownPtr known;
    bool outdated = false;  // it has changed since it was read
  };
  struct Owner {
    // A thread's own connection.
    std::function<std::unique_ptr<partners::Source>()> open;
    // What was read; called by the thread that read it. Returns what is known of each of them.
    std::function<std::vector<Taken>(const std::vector<partners::Subject>&, partners::Reading)> read;
    // Whether the database answers, when that changes.
    std::function<void(bool up, const std::string& why)> changed;
  };
  // Called once, on any thread, with what Owner::read has returned: null when it could not be read. What is outdated
  // is read once more before: whoever wants something has wanted it, maybe, after it changed.
  using Done = std::function<void(KnownPtr known)>;

  Reader(const Clock& clock, std::size_t threads, Owner owner);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  void want(const partners::Subject& subject, Done done);
  // Nothing is read any more; whoever wants something gets no answer.
  void shut();

  std::uint64_t queries() const { return queries_.load(std::memory_order_relaxed); }
  std::uint64_t failures() const { return failures_.load(std::memory_order_relaxed); }

 private:
  struct Wanted {
    partners::Subject subject;
    Done done;
    bool again = false;
  };

  using Queue = std::deque<Wanted>;

  void run();
  bool enter(const partners::Subject& subject, Done& done);
  std::vector<Wanted> take();
  static void move_some(Queue& from, std::vector<Wanted>& to);
  Queue& queue_of(const partners::Subject& subject);
  std::vector<Taken> read(partners::Source& source, const std::vector<Wanted>& wanted);
  void tell(std::vector<Wanted>& wanted, const std::vector<Taken>& taken);
  void note(const Result<void>& outcome);
  const Clock& clock_;
  const Owner owner_;
  std::mutex mutex_;
  std::condition_variable wake_;
  Queue keys_;
  Queue others_;
  bool stopping_ = false;
  bool up_ = true;  // the database has answered last
  bool probing_ = false;
  Instant rests_until_{};
  std::atomic<std::uint64_t> queries_{0};
  std::atomic<std::uint64_t> failures_{0};
  std::vector<std::thread> threads_;
};

}  // namespace weir::lookup
