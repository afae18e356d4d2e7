// SPDX-License-Identifier: Apache-2.0
//
// One event loop: epoll, deadlines, and work posted by other threads. Descriptors are registered once,
// edge-triggered. Time is read once per turn. What is closed during a turn is freed after it, so that events that
// are already on their way find their object alive. A turn: take in all events, receive and notify, serve what is
// due, send (TurnTransfers).
//
// Thread safety: post, stop and last_turn from any thread; everything else on the thread that runs the loop.
#pragma once

#include <sys/epoll.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "weir/base/clock.h"
#include "weir/io/descriptor.h"
#include "weir/io/timer.h"
#include "weir/io/turn_transfers.h"

namespace weir::io {

// Receives the events of one descriptor.
class EventSink {
 public:
  virtual void on_events(std::uint32_t events) = 0;

 protected:
  ~EventSink() = default;
};

// Something that the loop frees at the end of the turn.
class Retired {
 public:
  virtual ~Retired() = default;
};

class EventLoop {
 public:
  explicit EventLoop(const Clock& clock, SocketCalls calls = SocketCalls::kSingle);
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Runs until stop().
  void run();
  void stop();
  // Runs `work` on the loop's thread, in order.
  void post(std::function<void()> work);
  // When the loop last came round; an idle loop turns at least once a second.
  Instant last_turn() const { return Instant(nanoseconds(last_turn_.load(std::memory_order_relaxed))); }

  Instant now() const { return now_; }
  WallTime wall();
  TimerWheel& timers() { return timers_; }

  bool watch(int descriptor, std::uint32_t events, EventSink& sink);
  void unwatch(int descriptor);
  void retire(std::unique_ptr<Retired> object) { retired_.push_back(std::move(object)); }
  // Notifies the observer in the next turn, which then does not wait. Requires: alive until then, or forgotten.
  void notify_soon(Observer& observer) { soon_.push_back(&observer); }
  void forget(Observer& observer) { std::erase(soon_, &observer); }
  TurnTransfers& transfers() { return transfers_; }
  const TurnTransfers& transfers() const { return transfers_; }

 private:
  class Wakeup final : public EventSink {
   public:
    explicit Wakeup(EventLoop& loop) : loop_(loop) {}
    void on_events(std::uint32_t) override { loop_.run_posted(); }

   private:
    EventLoop& loop_;
  };

  void turn();
  void run_posted();
  void run_soon();

  const Clock& clock_;
  Descriptor epoll_;
  Descriptor wake_;
  Wakeup wakeup_{*this};
  Instant now_;
  WallTime wall_{};
  bool wall_is_fresh_ = false;
  TimerWheel timers_;
  TurnTransfers transfers_;
  std::vector<epoll_event> events_;
  std::vector<std::unique_ptr<Retired>> retired_;
  std::vector<Observer*> soon_;
  std::mutex posted_mutex_;
  std::vector<std::function<void()>> posted_;
  std::atomic<std::int64_t> last_turn_;
  std::atomic<bool> stopping_{false};
};

}  // namespace weir::io
