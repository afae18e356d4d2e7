// SPDX-License-Identifier: Apache-2.0
#include "weir/io/stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace weir::io {
namespace {

// The C library's send and recv are points where a thread may be cancelled, which costs two atomic operations a call;
// nobody cancels threads here.
ssize_t receive_bytes(int socket, char* room, std::size_t size, int flags) {
  return ::syscall(SYS_recvfrom, socket, room, size, flags, nullptr, nullptr);
}

ssize_t send_bytes(int socket, const char* bytes, std::size_t size) {
  return ::syscall(SYS_sendto, socket, bytes, size, MSG_NOSIGNAL, nullptr, 0);
}

}  // namespace

Stream::Stream(EventLoop& loop, Descriptor socket, Observer* observer, Phase phase)
    : loop_(loop), observer_(observer), socket_(std::move(socket)), writable_(phase == Phase::kConnected) {
  if (!loop_.watch(socket_.get(), EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, *this)) break_off();
}

void Stream::break_off() {
  broken_ = peer_ended_ = true;
  readable_ = true;  // what came before the fault can still be received, and then the fault shows
}

std::optional<Descriptor> Stream::start_connect(const SocketAddress& address) {
  Descriptor socket(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return std::nullopt;
  if (!address.is_unix()) {
    const int on = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  if (::connect(socket.get(), address.get(), address.size()) != 0 && errno != EINPROGRESS) return std::nullopt;
  return socket;
}

Transferred Stream::receive(std::span<char> room) {
  if (!readable_) return {Transfer::kWouldBlock};
  const ssize_t got = receive_bytes(socket_.get(), room.data(), room.size(), 0);
  if (got > 0) {
    const auto bytes = static_cast<std::size_t>(got);
    // A short read emptied the socket: the next edge tells of more. After the peer's end there is no further edge.
    if (bytes < room.size() && !peer_ended_) readable_ = false;
    return {Transfer::kDone, bytes};
  }
  if (got == 0) {
    peer_ended_ = true;
    return {Transfer::kEnded};
  }
  if (errno == EAGAIN || errno == EINTR) {
    readable_ = errno == EINTR;
    return {Transfer::kWouldBlock};
  }
  break_off();
  return {Transfer::kBroken};
}

Transferred Stream::send(std::string_view bytes) {
  if (broken_) return {Transfer::kBroken};
  if (!writable_ || (observer_ != nullptr && !loop_.may_send(*observer_))) return {Transfer::kWouldBlock};
  const ssize_t sent = send_bytes(socket_.get(), bytes.data(), bytes.size());
  if (sent >= 0) {
    if (static_cast<std::size_t>(sent) < bytes.size()) writable_ = false;
    return {Transfer::kDone, static_cast<std::size_t>(sent)};
  }
  if (errno == EAGAIN || errno == EINTR) {
    writable_ = errno == EINTR;
    return {Transfer::kWouldBlock};
  }
  break_off();
  return {Transfer::kBroken};
}

bool Stream::peek_ready() const {
  char byte = 0;
  const ssize_t got = receive_bytes(socket_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got >= 0 || (errno != EAGAIN && errno != EINTR);
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
  observer_ = nullptr;
  readable_ = writable_ = false;
  socket_.close();  // the kernel drops the registration with the last descriptor
}

void Stream::on_events(std::uint32_t events) {
  if (!socket_.is_open()) return;
  if (events & (EPOLLIN | EPOLLHUP | EPOLLERR | EPOLLRDHUP)) readable_ = true;
  if (events & EPOLLOUT) writable_ = true;
  if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) peer_ended_ = true;
  if (events & (EPOLLHUP | EPOLLERR)) hung_up_ = true;
  if (observer_ != nullptr) observer_->notify();
}

}  // namespace weir::io
