// SPDX-License-Identifier: Apache-2.0
//
// A connected, non-blocking byte stream on an event loop. It is registered once, edge-triggered, and remembers
// what the events said: a receive that could only answer EAGAIN is never tried. Whoever owns the stream names an
// Observer that is notified after every event; when that is done the stream may be closed but not yet freed
// (EventLoop::retire). Thread safety: the loop's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "weir/io/event_loop.h"
#include "weir/io/socket_address.h"
#include "weir/io/waiter.h"

namespace weir::io {

enum class Transfer : std::uint8_t {
  kDone,        // `bytes` bytes were moved
  kWouldBlock,  // nothing moved; an event will tell
  kEnded,       // the other side finished its half in order
  kBroken,      // reset, or another fault of the connection
};

struct Transferred {
  Transfer status;
  std::size_t bytes = 0;
};

// The kernel holds at most so much of a TCP stream that the other side has not let it send, so that what a slow
// reader takes shows as progress soon. Sockets accepted from a listener inherit it.
void limit_unsent(int socket);

class Stream final : public EventSink {
 public:
  enum class Phase : std::uint8_t { kConnected, kConnecting };

  // Takes over a socket. A fault (out of epoll memory) shows as a stream that is broken.
  Stream(EventLoop& loop, Descriptor socket, Observer* observer, Phase phase = Phase::kConnected);
  // Begins to connect; once the stream is `writable()` or has `hung_up()`, `connect_error()` tells how it ended.
  static std::optional<Descriptor> start_connect(const SocketAddress& address);
  ~Stream() { close(); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void observe(Observer* observer) { observer_ = observer; }

  // Whoever got kWouldBlock is taken to want more: the loop receives for all such streams in one go when bytes come.
  Transferred receive(std::span<char> room);
  // Leaves with what all streams have to send at the end of the loop's turn: kWouldBlock until then; the observer is
  // notified, and the next call tells how much was sent. Requires: `bytes` stay in place until the turn ends or the
  // next call, which replaces them and begins with the same bytes. A stream without observer sends at once.
  Transferred send(std::string_view bytes);
  // Bytes that were sent and that the other side's system has not taken yet, as the socket itself tells.
  std::size_t unacknowledged() const;
  // Asks the socket itself whether the other side has ended or spoken although no event told of it yet.
  bool peek_ready() const;

  bool is_open() const { return socket_.is_open(); }
  bool readable() const { return readable_ || !ahead_.empty(); }
  bool writable() const { return writable_; }
  // The other side finished its half, or the connection broke; received bytes may still be waiting.
  bool peer_ended() const { return peer_ended_; }
  // Neither direction works any more (a reset, or both sides have finished); received bytes may still be waiting.
  bool hung_up() const { return hung_up_ || broken_; }
  int connect_error() const;  // an errno, 0 when connected
  // The errno of the fault that broke the connection, 0 while none was met.
  int fault() const { return fault_; }

  void shutdown_send();
  // The next close drops the connection with a reset, so that the other side cannot mistake it for an end.
  void reset_on_close();
  void close();

  void on_events(std::uint32_t events) override;

 private:
  friend class TurnTransfers;

  Transferred received(std::int64_t result, std::size_t room);
  void received_ahead(std::int64_t result, std::span<const char> room);
  void sent(std::int64_t result, std::size_t size);
  void notify();
  void deliver();
  void break_off(int fault);

  EventLoop& loop_;
  Observer* observer_;
  Descriptor socket_;
  std::string_view ahead_;        // received before anybody asked
  std::unique_ptr<char[]> kept_;  // holds it where nobody has asked for it since
  std::string_view unsent_;       // to be sent at the end of the turn
  std::size_t sent_ = 0;          // of it, and not told yet
  bool queued_ = false;           // TurnTransfers knows it
  bool wants_input_ = false;
  bool readable_ = false;
  bool writable_ = true;
  bool peer_ended_ = false;
  bool urgent_ = false;  // the other side has sent urgent data
  bool hung_up_ = false;
  bool broken_ = false;
  bool receive_failed_ = false;
  int fault_ = 0;
};

}  // namespace weir::io
