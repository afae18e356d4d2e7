// SPDX-License-Identifier: Apache-2.0
//
// A listening socket on an event loop. Every loop opens its own for the same address (SO_REUSEPORT); Unix sockets
// are opened once and shared by duplicates. Out of descriptors, or told to pause, it waits a tenth of a second
// instead of spinning; connections meanwhile wait in the backlog. Thread safety: the loop's thread.
#pragma once

#include <functional>
#include <string>

#include "weir/base/result.h"
#include "weir/io/event_loop.h"
#include "weir/io/socket_address.h"

namespace weir::io {

// A bound, listening, non-blocking socket. `reuse_port`: others of this process may bind the same address too.
// A Unix socket's stale file is replaced when nobody listens on it.
Result<Descriptor> open_listener(const SocketAddress& address, bool reuse_port);

class Acceptor final : public EventSink, private Observer {
 public:
  struct Accepted {
    Descriptor socket;
    SocketAddress peer;
  };
  // Returns false to pause accepting.
  using OnAccept = std::function<bool(Accepted)>;

  Acceptor(EventLoop& loop, Descriptor listener, OnAccept on_accept);
  ~Acceptor();

  SocketAddress address() const { return SocketAddress::of_socket(listener_.get()); }
  int descriptor() const { return listener_.get(); }
  // Accepts what is already in the backlog, then closes the socket.
  void close();

  void on_events(std::uint32_t events) override;

 private:
  void notify() override;
  bool accept_some(int most);
  void pause();

  EventLoop& loop_;
  Descriptor listener_;
  OnAccept on_accept_;
  Timer resume_;
  bool watching_ = false;
};

}  // namespace weir::io
