// SPDX-License-Identifier: Apache-2.0
#include "weir/io/stream.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace weir::io {
Stream::Stream(EventLoop& loop, Descriptor socket, Observer* observer, Phase phase)
    : loop_(loop), observer_(observer), socket_(std::move(socket)), writable_(phase == Phase::kConnected) {
  if (!loop_.watch(socket_.get(), EPOLLIN | EPOLLPRI | EPOLLOUT | EPOLLRDHUP | EPOLLET, *this)) break_off(errno);
}

void Stream::break_off(int fault) {
  if (fault_ == 0) fault_ = fault;
  broken_ = peer_ended_ = true;
  unsent_ = {};      // no later send could tell that they have moved
  readable_ = true;  // what came before the fault can still be received, and then the fault shows
}

std::optional<Descriptor> Stream::start_connect(const SocketAddress& address) {
  Descriptor socket(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return std::nullopt;
  if (!address.is_unix()) {
    const int on = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    limit_unsent(socket.get());
  }
  if (::connect(socket.get(), address.get(), address.size()) != 0 && errno != EINPROGRESS) return std::nullopt;
  return socket;
}

void limit_unsent(int socket) {
  const int most = 131072;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &most, sizeof most);
}

Transferred Stream::receive(std::span<char> room) {
  if (!ahead_.empty()) {
    const std::size_t bytes = ahead_.copy(room.data(), room.size());
    ahead_.remove_prefix(bytes);
    if (ahead_.empty()) kept_.reset();
    return {Transfer::kDone, bytes};
  }
  if (receive_failed_) return {Transfer::kBroken};
  if (!readable_) {
    wants_input_ = true;
    return {Transfer::kWouldBlock};
  }
  return received(receive_now(socket_.get(), room), room.size());
}

Transferred Stream::received(std::int64_t result, std::size_t room) {
  wants_input_ = false;
  if (result > 0) {
    const auto bytes = static_cast<std::size_t>(result);
    // A short read emptied the socket: the next edge tells of more. After the peer's end there is no further edge,
    // and at urgent data every read stops.
    if (bytes < room && !peer_ended_ && !urgent_) readable_ = false;
    return {Transfer::kDone, bytes};
  }
  if (result == 0) {
    peer_ended_ = true;
    return {Transfer::kEnded};
  }
  if (result == -EAGAIN || result == -EINTR) {
    readable_ = result == -EINTR;
    wants_input_ = true;
    return {Transfer::kWouldBlock};
  }
  break_off(static_cast<int>(-result));
  receive_failed_ = true;
  return {Transfer::kBroken};
}

// An end is told again by the next receive, a fault by `receive_failed_`.
void Stream::received_ahead(std::int64_t result, std::span<const char> room) {
  const auto got = received(result, room.size());
  if (got.status == Transfer::kDone) ahead_ = {room.data(), got.bytes};
}

Transferred Stream::send(std::string_view bytes) {
  if (sent_ > 0) return {Transfer::kDone, std::exchange(sent_, 0)};
  if (broken_) return {Transfer::kBroken};
  if (!writable_) return {Transfer::kWouldBlock};
  unsent_ = bytes;
  if (observer_ == nullptr) {
    sent(send_now(socket_.get(), bytes.data(), bytes.size()), bytes.size());
    if (broken_) return {Transfer::kBroken};
    return {sent_ > 0 ? Transfer::kDone : Transfer::kWouldBlock, std::exchange(sent_, 0)};
  }
  if (!queued_) loop_.transfers().send_soon(*this);
  queued_ = true;
  return {Transfer::kWouldBlock};
}

// What came of `size` bytes, however many there would be to send by now.
void Stream::sent(std::int64_t result, std::size_t size) {
  queued_ = false;
  if (result >= 0) {
    sent_ = static_cast<std::size_t>(result);
    if (sent_ < size) writable_ = false;  // an event will tell
  } else if (result == -EAGAIN) {
    writable_ = false;  // an event will tell
  } else if (result != -EINTR) {
    break_off(static_cast<int>(-result));
  }
  unsent_ = {};
}

void Stream::notify() {
  if (observer_ != nullptr) observer_->notify();
}

std::size_t Stream::unacknowledged() const {
  int bytes = 0;
  if (::ioctl(socket_.get(), SIOCOUTQ, &bytes) != 0) return 0;
  return static_cast<std::size_t>(bytes);
}

bool Stream::peek_ready() const {
  if (!ahead_.empty()) return true;
  char byte = 0;
  const std::int64_t got = receive_now(socket_.get(), {&byte, 1}, MSG_PEEK);
  return got != -EAGAIN && got != -EINTR;
}

int Stream::connect_error() const {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  return error;
}

void Stream::shutdown_send() { ::shutdown(socket_.get(), SHUT_WR); }

void Stream::reset_on_close() {
  const linger hard{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
}

void Stream::close() {
  if (!socket_.is_open()) return;
  loop_.transfers().forget(*this);
  observer_ = nullptr;
  readable_ = writable_ = false;
  ahead_ = unsent_ = {};
  kept_.reset();
  socket_.close();  // the kernel drops the registration with the last descriptor
}

void Stream::on_events(std::uint32_t events) {
  if (!socket_.is_open()) return;
  if (events & (EPOLLIN | EPOLLHUP | EPOLLERR | EPOLLRDHUP)) readable_ = true;
  if (events & EPOLLPRI) urgent_ = true;
  if (events & EPOLLOUT) writable_ = true;
  if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) peer_ended_ = true;
  if (events & (EPOLLHUP | EPOLLERR)) hung_up_ = true;
  loop_.transfers().arrived(*this);
}

void Stream::deliver() {
  if (observer_ != nullptr) observer_->notify();
  if (ahead_.empty() || kept_) return;
  // Nobody wanted it after all; the memory it is in is needed for others.
  kept_ = std::make_unique_for_overwrite<char[]>(ahead_.size());
  ahead_.copy(kept_.get(), ahead_.size());
  ahead_ = {kept_.get(), ahead_.size()};
}

}  // namespace weir::io
