// SPDX-License-Identifier: Apache-2.0
#include "tcp.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace weir::bench {
namespace {

const sockaddr* generic(const sockaddr_in& address) { return reinterpret_cast<const sockaddr*>(&address); }

bool switch_on(int fd, int level, int option) {
  const int one = 1;
  return setsockopt(fd, level, option, &one, sizeof one) == 0;
}

}  // namespace

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int listen_at(const sockaddr_in& address) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  if (switch_on(fd, SOL_SOCKET, SO_REUSEADDR) && switch_on(fd, IPPROTO_TCP, TCP_NODELAY) &&
      bind(fd, generic(address), sizeof address) == 0 && listen(fd, SOMAXCONN) == 0) {
    return fd;
  }
  close(fd);
  return -1;
}

int connect_to(const sockaddr_in& address) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  if (switch_on(fd, IPPROTO_TCP, TCP_NODELAY) && connect(fd, generic(address), sizeof address) == 0) return fd;
  close(fd);
  return -1;
}

bool set_nonblocking(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

}  // namespace weir::bench
