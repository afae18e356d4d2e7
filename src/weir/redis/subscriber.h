// SPDX-License-Identifier: Apache-2.0
//
// A subscription to one channel, on a connection of its own to one of the servers; of a cluster to any, since what is
// published at one node is told by all. A server that fails, falls silent or does not belong to the others any more
// is left for the next one, with jittered back-off. What is published while the subscription is not live is missed.
// (redis.io/docs/latest/develop/pubsub)
// Thread safety: the loop's thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weir/base/clock.h"
#include "weir/io/alarm.h"
#include "weir/io/event_loop.h"
#include "weir/redis/connection.h"
#include "weir/redis/counters.h"

namespace weir::redis {

class Subscriber final : private io::Observer {
 public:
  // A live server is asked for a sign of life so often, and is no longer live when nothing came for so long.
  static constexpr nanoseconds kAskAfter = std::chrono::seconds(1);
  static constexpr nanoseconds kSilence = std::chrono::seconds(3);

  // Called by the loop; none may destroy the subscriber.
  struct Owner {
    std::function<std::vector<Address>()> servers;  // at least one
    std::function<void(std::string_view)> message;
    std::function<void(bool live)> changed;
  };

  // `settings` and `counters` outlive the subscriber.
  Subscriber(io::EventLoop& loop, const NodeSettings& settings, std::string channel, Owner owner, Counters& counters);
  ~Subscriber();
  Subscriber(const Subscriber&) = delete;
  Subscriber& operator=(const Subscriber&) = delete;

  // Connects to one of the servers, without waiting for it.
  void start();
  void shut();
  // Whether whatever is published from now on is heard, as far as is known.
  bool live() const { return state_ == State::kLive; }

 private:
  enum class State : std::uint8_t { kIdle, kSubscribing, kLive, kWaiting };

  void notify() override;
  void tick();
  void connect();
  bool take(ReplyView reply);
  void subscribed();
  void lost(std::string_view why);
  void leave_server();

  io::EventLoop& loop_;
  const NodeSettings& settings_;
  const std::string channel_;
  Owner owner_;
  Counters& counters_;
  io::Alarm<Subscriber, &Subscriber::tick> timer_;
  std::unique_ptr<Connection> connection_;
  Address server_;
  State state_ = State::kIdle;
  Instant heard_{};  // when the server last said something
  BackOff back_off_;
  bool complained_ = false;       // since it was last live
  std::size_t next_server_;       // workers begin with different ones
  std::size_t next_address_ = 0;  // of a server
};

}  // namespace weir::redis
