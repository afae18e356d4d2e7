// SPDX-License-Identifier: Apache-2.0
//
// One server, by one pipelined connection: commands go out in the order in which they came, all of a turn of the loop
// in one write, and are answered in that order. Whoever waits does so for as long as it was told, connecting
// included, and never in an unbounded queue.
//
// The breaker: when the server cannot be reached, or several commands in a row were not answered in time, everybody
// fails at once from then on. A single probe with jittered back-off tries again until it is answered.
// Thread safety: the loop's thread.
#pragma once

#include <coroutine>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "weir/base/clock.h"
#include "weir/io/alarm.h"
#include "weir/io/event_loop.h"
#include "weir/redis/command.h"
#include "weir/redis/connection.h"
#include "weir/redis/counters.h"
#include "weir/redis/reply.h"

namespace weir::redis {

class Call;

class Node final : private io::Observer {
 public:
  // While `gathering` is true somebody else sees to it that commands are flushed.
  Node(io::EventLoop& loop, const NodeSettings& settings, Address address, Counters& counters, const bool& gathering);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  const Address& address() const { return address_; }
  // Begins to connect, if it is not connected.
  void start();
  // Nobody can be answered now.
  bool is_open() const { return state_ >= State::kOpen; }
  bool is_idle() const { return in_flight_.empty(); }
  void flush();
  // The server turns out not to be what it was: it is left alone for a moment, and then connected to anew.
  void reconnect(std::string_view why);
  // Everybody who waits fails now.
  void fail_waiting();
  // Everybody fails at once from now on, for good.
  void shut();

 private:
  friend class Call;
  enum class State : std::uint8_t { kDown, kConnecting, kReady, kOpen, kProbing, kShut };
  enum class For : std::uint8_t { kCall, kNobody, kGreeting, kLastGreeting, kProof };
  struct InFlight {
    Call* call = nullptr;  // null: it waits no more
    For what = For::kCall;
  };

  // Takes the command; false: it fails at once.
  bool accept(Call& call);
  void timed_out(InFlight& entry);

  void notify() override;
  void tick();
  bool connect();
  void greet();
  void flush_soon();
  void receive();
  bool take(Reply reply);
  void greeted();
  void ready();
  void lost(std::string_view why);
  void open(std::string_view why);
  void fail_all();

  io::EventLoop& loop_;
  const NodeSettings& settings_;
  const Address address_;
  Counters& counters_;
  const bool& gathering_;
  io::Alarm<Node, &Node::tick> timer_;  // of a probe: when it begins, or how long it may take
  std::unique_ptr<Connection> connection_;
  std::string pending_;  // commands of this turn
  std::deque<InFlight> in_flight_;
  State state_ = State::kDown;
  bool flush_is_due_ = false;
  int failures_ = 0;                    // in a row
  Instant failed_at_ = Instant::min();  // when a command was last not answered in time
  BackOff back_off_;                    // from one probe to the next, since a command was last answered
  std::size_t next_address_ = 0;
};

// A command on its way: `co_await` it, once. Ends when it is answered, when its deadline has passed, or when the
// node fails.
class Call final : private io::Observer {
 public:
  enum class End : std::uint8_t { kPending, kAnswered, kTimedOut, kUnavailable };

  enum class Kind : std::uint8_t {
    kCommand,
    kAsking,  // it follows an ASK redirection
    kAside,   // whether it is answered in time says nothing about commands
  };

  // Requires: the bytes of the command live as long as the call.
  Call(io::EventLoop& loop, Node& node, const Command& command, Instant deadline, Kind kind = Kind::kCommand)
      : node_(node), command_(command), deadline_(deadline), kind_(kind), timer_(loop.timers(), *this) {}
  ~Call();

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> waiting);
  End await_resume() const noexcept { return end_; }

  // Of a call that ended with kAnswered.
  const Reply& reply() const { return reply_; }
  Reply take_reply() { return std::move(reply_); }

 private:
  friend class Node;
  void notify() override;  // the deadline has passed
  void finish(End end);

  Node& node_;
  const Command& command_;
  Instant deadline_;
  Kind kind_;
  io::Timer timer_;
  Node::InFlight* entry_ = nullptr;
  End end_ = End::kPending;
  Reply reply_;
  std::coroutine_handle<> waiting_;
};

}  // namespace weir::redis
