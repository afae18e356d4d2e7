// SPDX-License-Identifier: Apache-2.0
#include "weir/io/channel.h"

#include <array>
#include <system_error>
#include <utility>

namespace weir::io {
namespace {

constexpr std::size_t kRecord = 16384;  // the most plaintext of a TLS record
constexpr std::size_t kKeptCapacity = 65536;

std::string text_of(int error) { return std::generic_category().message(error); }

}  // namespace

Channel::Channel(EventLoop& loop, Descriptor socket, Observer& observer, const TlsContext* tls,
                 std::string_view server_name)
    : observer_(observer), stream_(loop, std::move(socket), &observer, Stream::Phase::kConnecting) {
  if (tls != nullptr) tls_.emplace(*tls, server_name, out_);
  if (stream_.fault() != 0) break_off_connection();
  if (tls_ && !tls_->fault().empty()) break_off(tls_->fault());
  if (state_ == State::kBroken) input_ = Transfer::kBroken;
}

Channel::~Channel() = default;

void Channel::send(std::string_view bytes) {
  if (state_ >= State::kEnded) return;
  if (!tls_) {
    out_.append(bytes);
  } else if (state_ != State::kOpen) {
    waiting_.append(bytes);
  } else if (!tls_->write(bytes)) {
    break_off(tls_->fault());
  }
  flush();  // also because the bytes may have moved (Stream::send)
}

void Channel::advance() {
  if (state_ == State::kConnecting) finish_connect();
  if (state_ == State::kHandshaking) shake_hands();
  flush();
}

void Channel::finish_connect() {
  if (!stream_.writable() && !stream_.hung_up()) return;
  if (const int error = stream_.connect_error(); error != 0) {
    input_ = Transfer::kBroken;
    return break_off(text_of(error));
  }
  if (tls_) {
    state_ = State::kHandshaking;
  } else {
    opened();
  }
}

void Channel::shake_hands() {
  for (;;) {
    const Transfer shaken = tls_->handshake();
    if (shaken == Transfer::kDone) return opened();
    if (shaken != Transfer::kWouldBlock) {
      input_ = Transfer::kBroken;
      break_off(shaken == Transfer::kBroken ? tls_->fault() : "the server has ended the TLS handshake");
      return flush_now();  // the alert: whoever sees the fault is likely to close
    }
    const Transfer fed = feed_tls();
    if (fed == Transfer::kWouldBlock) return;
    if (fed != Transfer::kDone) {
      input_ = Transfer::kBroken;
      if (fed == Transfer::kEnded) return break_off("the server has ended the connection during the TLS handshake");
      return break_off_connection();
    }
  }
}

void Channel::opened() {
  state_ = State::kOpen;
  input_ = Transfer::kDone;
  if (tls_ && !tls_->write(waiting_.view())) break_off(tls_->fault());
  waiting_.release();
}

Transferred Channel::receive(std::span<char> room) {
  if (input_ != Transfer::kDone) return {input_};
  const Transferred got = tls_ ? receive_through_tls(room) : stream_.receive(room);
  if (got.status == Transfer::kEnded || got.status == Transfer::kBroken) input_ = got.status;
  if (got.status == Transfer::kEnded && state_ == State::kOpen) state_ = State::kEnded;
  if (got.status == Transfer::kBroken) break_off_connection();
  return got;
}

Transferred Channel::receive_through_tls(std::span<char> room) {
  for (;;) {
    const Transferred got = tls_->read(room);
    flush();  // reading can have made something to send, or moved what is under way
    if (got.status == Transfer::kBroken) {
      break_off(tls_->fault());
      flush_now();
    }
    if (got.status != Transfer::kWouldBlock) return got;
    const Transfer fed = feed_tls();
    if (fed == Transfer::kWouldBlock) return {fed};
    if (fed == Transfer::kEnded) break_off("the connection was cut: it ended without the end of TLS");
    if (fed != Transfer::kDone) return {Transfer::kBroken};
  }
}

Transfer Channel::feed_tls() {
  std::array<char, kRecord> ciphertext;
  const Transferred got = stream_.receive(ciphertext);
  if (got.status == Transfer::kDone) tls_->feed({ciphertext.data(), got.bytes});
  return got.status;
}

void Channel::flush() {
  if (state_ == State::kConnecting) return;
  while (!out_.empty()) {
    const Transferred sent = stream_.send(out_.view());
    if (sent.status == Transfer::kBroken) return break_off_connection();
    if (sent.bytes == 0) return;
    out_.consume(sent.bytes);
  }
  if (out_.capacity() > kKeptCapacity) out_.release();
}

// Without waiting for the end of the turn.
void Channel::flush_now() {
  stream_.observe(nullptr);
  flush();
  stream_.observe(&observer_);
}

void Channel::close() {
  if (!stream_.is_open()) return;
  if (state_ == State::kOpen || state_ == State::kEnded) {
    if (tls_) tls_->end();
    flush_now();
  }
  break_off("it was closed");
  input_ = Transfer::kBroken;
  stream_.close();
}

// The first fault counts: what follows comes of it.
void Channel::break_off(std::string fault) {
  if (state_ >= State::kEnded) return;
  state_ = State::kBroken;
  fault_ = std::move(fault);
}

void Channel::break_off_connection() {
  break_off(stream_.fault() != 0 ? text_of(stream_.fault()) : "the connection is broken");
}

}  // namespace weir::io
