// SPDX-License-Identifier: Apache-2.0
//
// A connection to one server: begun, greeted with who we are, and read reply by reply. What is asked and what becomes
// of the answers is its owner's, and so are deadlines.
// Thread safety: the loop's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/base/clock.h"
#include "weir/io/channel.h"
#include "weir/io/event_loop.h"
#include "weir/redis/command.h"
#include "weir/redis/counters.h"
#include "weir/redis/reply.h"
#include "weir/redis/script.h"

namespace weir::redis {

// Where a server is.
struct Address {
  std::string host;  // a name or a literal; empty with a Unix path
  std::uint16_t port = 0;
  std::string unix_path;
  std::string text() const;
  bool operator==(const Address&) const = default;
};

struct NodeSettings {
  std::string user = {};
  std::string password = {};
  int database = 0;
  std::shared_ptr<const io::TlsContext> tls = nullptr;  // null: in clear
  nanoseconds budget{};                                 // of one command
  std::vector<const Script*> scripts = {};              // loaded with every connection; live as long as the process
  // The addresses of a host, without blocking; none: it is not known (yet).
  std::function<std::vector<io::SocketAddress>(const Address&)> resolve = {};
};

// What a connection begins with: each is answered with an error, and then it is of no use, or with something else.
std::vector<Command> greeting(const NodeSettings& settings);

class Connection {
 public:
  // Begins to connect to one of the addresses of the server, the first time to number `next`, which is moved on.
  // Null: that cannot even begin. The observer is notified of whatever happens.
  static std::unique_ptr<Connection> open(io::EventLoop& loop, const NodeSettings& settings, const Address& address,
                                          std::size_t& next, io::Observer& observer, Counters& counters);
  // Sends what the socket takes at once. The loop may still have events: they find nobody.
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void send(std::string_view bytes) { channel_->send(bytes); }
  // To be called whenever the observer was notified, before next().
  void advance() { channel_->advance(); }

  enum class Got : std::uint8_t {
    kReply,
    kNothing,  // until the observer is notified again
    kLost,     // see fault()
    kGarbage,  // it is no server of this protocol
  };
  Got next(Reply& reply);
  const std::string& fault() const { return fault_; }

 private:
  Connection(io::EventLoop& loop, std::unique_ptr<io::Channel> channel) : loop_(loop), channel_(std::move(channel)) {}

  io::EventLoop& loop_;
  std::unique_ptr<io::Channel> channel_;
  ReplyReader reader_;
  std::string fault_;
};

// Hands every reply that has come to `take`, which says false when the connection has ended with it, and may replace
// it. Never kReply; after kLost and kGarbage the connection is still there.
template <class Take>
Connection::Got take_all(const std::unique_ptr<Connection>& connection, Take take) {
  for (Reply reply; connection;) {
    const Connection::Got got = connection->next(reply);
    if (got != Connection::Got::kReply) return got;
    if (!take(std::move(reply))) break;
  }
  return Connection::Got::kNothing;
}

// How long to leave a server alone after so many failures: twice as long each time, with jitter, so that those who
// lost it together do not come back together.
class BackOff {
 public:
  explicit BackOff(nanoseconds longest) : longest_(longest) {}

  nanoseconds next();
  void reset() { failures_ = 0; }

 private:
  nanoseconds longest_;
  int failures_ = 0;
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace weir::redis
