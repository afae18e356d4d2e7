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

// Who else may listen on an address (SO_REUSEPORT).
enum class Sharing : std::uint8_t {
  kAlone,
  kFirst,  // nobody may be there yet; more sockets of this process follow
  kNext,
};

// A bound, listening, non-blocking socket. A Unix socket's stale file is replaced when nobody listens on it.
Result<Descriptor> open_listener(const SocketAddress& address, Sharing sharing);

class Acceptor final : public EventSink, public Retired, private Observer {
 public:
  struct Accepted {
    Descriptor socket;
    SocketAddress peer;
  };
  using OnAccept = std::function<void(Accepted)>;
  // False: accept nothing for now.
  using HasRoom = std::function<bool()>;

  Acceptor(EventLoop& loop, Descriptor listener, OnAccept on_accept, HasRoom has_room = [] { return true; });
  ~Acceptor() override;

  SocketAddress address() const { return SocketAddress::of_socket(listener_.get()); }
  int descriptor() const { return listener_.get(); }
  // Accepts what is already in the backlog, then closes the socket. Events may still be on their way: retire it
  // after.
  void close();

  void on_events(std::uint32_t events) override;

 private:
  void notify() override;
  bool accept_some(int most);
  void pause();

  EventLoop& loop_;
  Descriptor listener_;
  OnAccept on_accept_;
  HasRoom has_room_;
  Timer resume_;
  bool watching_ = false;
};

}  // namespace weir::io
