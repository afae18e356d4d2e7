// SPDX-License-Identifier: Apache-2.0
//
// Bytes to and from a server, in clear or through TLS, for protocols that send little at a time: what is sent is kept
// until the socket takes it, however much that is. Connects, shakes hands and sends on its own whenever its owner
// calls advance(). It sets no deadlines; those are the owner's. Errors: State::kBroken and fault(). Thread safety:
// the loop's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "weir/io/buffer.h"
#include "weir/io/event_loop.h"
#include "weir/io/stream.h"
#include "weir/io/tls_session.h"

namespace weir::io {

class Channel final : public Retired {
 public:
  enum class State : std::uint8_t {
    kConnecting,
    kHandshaking,
    kOpen,
    kEnded,   // by the peer, in order, and all that it had sent was received
    kBroken,  // see fault(); what came before may still be there to be received
  };

  // Takes over a connecting socket (Stream::start_connect). In clear without `tls`, which need not outlive this call;
  // with it the server has to be `server_name`. May be kBroken at once, of which the observer is not told.
  Channel(EventLoop& loop, Descriptor socket, Observer& observer, const TlsContext* tls,
          std::string_view server_name);
  ~Channel() override;

  State state() const { return state_; }
  // Why it is kBroken: "Connection refused", "certificate verify failed: hostname mismatch". Empty otherwise.
  const std::string& fault() const { return fault_; }

  // Appends; leaves at the end of the loop's turn, or once the channel is open. Ignored once it has ended or broken.
  // With TLS every call makes a record: bytes that belong together are better sent together.
  void send(std::string_view bytes);
  // Bytes that the socket has not taken yet, as far as advance() has seen; with TLS as many as the records have.
  std::size_t unsent() const { return waiting_.size() + out_.size(); }
  // Requires: `room` is not empty. As Stream::receive: until kWouldBlock, for no event tells of what was left. kEnded
  // and kBroken are told again when asked again. With TLS an end of the connection that the peer did not announce is
  // kBroken: somebody may have cut it short.
  Transferred receive(std::span<char> room);

  // To be called whenever the observer was notified, before receive().
  void advance();
  // Gives the socket what it takes at once, and the peer an end in order. What the channel says from then on is
  // that it is over. Events may still be on their way: free it by EventLoop::retire.
  void close();

 private:
  void finish_connect();
  void shake_hands();
  void opened();
  Transferred receive_through_tls(std::span<char> room);
  Transfer feed_tls();
  void flush();
  void flush_now();
  void break_off(std::string fault);
  void break_off_connection();

  Observer& observer_;
  Stream stream_;
  Buffer waiting_;  // plaintext from before TLS was ready
  Buffer out_;      // as it leaves
  std::optional<TlsSession> tls_;
  State state_ = State::kConnecting;
  Transfer input_ = Transfer::kWouldBlock;  // until it opens; kDone: open; then how it ended
  std::string fault_;
};

}  // namespace weir::io
