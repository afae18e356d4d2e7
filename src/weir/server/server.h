// SPDX-License-Identifier: Apache-2.0
//
// A small HTTP/1.1 server for weir's own endpoints (health, metrics, the demo upstream): strict parsing, keep-alive,
// whole requests in, whole answers out, bounded in time and memory. Not the data plane.
// Thread safety: the loop's thread; the handler runs there too, and may wait.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/http/message.h"
#include "weir/io/acceptor.h"
#include "weir/io/event_loop.h"
#include "weir/io/task.h"

namespace weir::server {

struct Request {
  const http::RequestHead& head;
  std::string_view body;        // the first Options::kept_body bytes
  std::uint64_t body_size = 0;  // all of them
  std::string_view peer;        // whose request it is: an address, or "unix"
};

struct Answer {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> fields;  // further ones
};

// The request lives as long as the task.
using Handler = std::function<io::Task<Answer>(const Request&)>;

struct Options {
  std::size_t kept_body = 65536;
  bool refuse_larger_bodies = true;  // 413; false: the rest is read, counted and dropped
  std::size_t most_connections = 256;
  // What is answered by the head alone, before anything of a body is taken; then the connection ends. Absent:
  // nothing.
  std::function<std::optional<Answer>(const http::RequestHead&)> refuse{};
};

class Server {
 public:
  Server(io::EventLoop& loop, Options options, Handler handler);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  Result<void> listen(const io::SocketAddress& address);
  // Of the first listener, with the port that was given.
  io::SocketAddress address() const { return acceptors_.front()->address(); }
  // No new connections; open ones end after their current answer.
  void close();

 private:
  class Session;

  io::EventLoop& loop_;
  Options options_;
  Handler handler_;
  std::vector<std::unique_ptr<io::Acceptor>> acceptors_;
  std::vector<std::unique_ptr<Session>> sessions_;
  bool closing_ = false;
};

}  // namespace weir::server
