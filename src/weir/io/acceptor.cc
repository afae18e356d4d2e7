// SPDX-License-Identifier: Apache-2.0
#include "weir/io/acceptor.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include "weir/io/stream.h"

namespace weir::io {
namespace {

constexpr int kBacklog = 4096;
constexpr int kAcceptsPerTurn = 64;
constexpr auto kPause = std::chrono::milliseconds(100);

std::unexpected<Error> io_error(const char* what, const SocketAddress& address) {
  return std::unexpected(Error{ErrorKind::kIo, Origin::kSelf,
                               fmt::format("cannot {} {}: {}", what, address.to_string(), std::strerror(errno))});
}

// A socket file that nobody listens on any more is left over from a process that was killed.
void remove_stale_file(const SocketAddress& address) {
  const char* path = reinterpret_cast<const sockaddr_un*>(address.get())->sun_path;
  struct stat info{};
  if (::stat(path, &info) != 0 || !S_ISSOCK(info.st_mode)) return;
  const Descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(probe.get(), address.get(), address.size()) != 0 && errno == ECONNREFUSED) ::unlink(path);
}

// With SO_REUSEPORT a second process could share the address unnoticed: without it the kernel says that it is taken.
bool is_taken(const SocketAddress& address) {
  const Descriptor probe(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(probe.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.family() == AF_INET6) ::setsockopt(probe.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  return ::bind(probe.get(), address.get(), address.size()) != 0 && errno == EADDRINUSE;
}

}  // namespace

Result<Descriptor> open_listener(const SocketAddress& address, Sharing sharing) {
  if (sharing == Sharing::kFirst && !address.is_unix() && is_taken(address)) return io_error("bind", address);
  Descriptor socket(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return io_error("open a socket for", address);
  const int on = 1;
  if (address.is_unix()) {
    remove_stale_file(address);
  } else {
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    // Accepted sockets inherit these. Urgent data is data like any other.
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    limit_unsent(socket.get());
    ::setsockopt(socket.get(), SOL_SOCKET, SO_OOBINLINE, &on, sizeof on);
    if (sharing != Sharing::kAlone) ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    if (address.family() == AF_INET6) ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  }
  if (::bind(socket.get(), address.get(), address.size()) != 0) return io_error("bind", address);
  if (::listen(socket.get(), kBacklog) != 0) return io_error("listen on", address);
  return socket;
}

Acceptor::Acceptor(EventLoop& loop, Descriptor listener, OnAccept on_accept, HasRoom has_room)
    : loop_(loop),
      listener_(std::move(listener)),
      on_accept_(std::move(on_accept)),
      has_room_(std::move(has_room)),
      resume_(loop.timers(), *this) {
  watching_ = loop_.watch(listener_.get(), EPOLLIN, *this);
}

Acceptor::~Acceptor() {
  if (listener_.is_open()) loop_.unwatch(listener_.get());
}

void Acceptor::on_events(std::uint32_t) {
  if (listener_.is_open() && !accept_some(kAcceptsPerTurn)) pause();
}

bool Acceptor::accept_some(int most) {
  for (int i = 0; i < most; ++i) {
    if (!has_room_()) return false;
    sockaddr_storage storage{};
    socklen_t size = sizeof storage;
    const int fd =
        ::accept4(listener_.get(), reinterpret_cast<sockaddr*>(&storage), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
      if (errno == EAGAIN) return true;
      if (errno == ECONNABORTED || errno == EINTR || errno == EPROTO) continue;
      return false;  // out of descriptors or memory
    }
    on_accept_({Descriptor(fd), SocketAddress::from(storage, size)});
  }
  return true;
}

void Acceptor::pause() {
  if (watching_) loop_.unwatch(listener_.get());
  watching_ = false;
  resume_.set(loop_.now() + kPause);
}

void Acceptor::notify() {
  if (listener_.is_open() && !watching_) watching_ = loop_.watch(listener_.get(), EPOLLIN, *this);
}

void Acceptor::close() {
  if (!listener_.is_open()) return;
  accept_some(kBacklog);
  resume_.clear();
  if (watching_) loop_.unwatch(listener_.get());
  listener_.close();
}

}  // namespace weir::io
