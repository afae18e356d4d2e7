// SPDX-License-Identifier: Apache-2.0
//
// Where a socket is bound or connected to: IPv4, IPv6 or a Unix path. Thread safety: a plain value.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weir/base/ip.h"

namespace weir::io {

class SocketAddress {
 public:
  // `host` is a literal IPv4 or IPv6 address.
  static std::optional<SocketAddress> literal(const std::string& host, std::uint16_t port);
  // Absent: the path does not fit into a socket address (107 bytes).
  static std::optional<SocketAddress> unix_path(std::string_view path);
  static SocketAddress from(const sockaddr_storage& storage, socklen_t size);
  // The local address of a bound socket.
  static SocketAddress of_socket(int descriptor);

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t size() const { return size_; }
  int family() const { return storage_.ss_family; }
  bool is_unix() const { return family() == AF_UNIX; }
  std::uint16_t port() const;           // 0 for a Unix socket
  std::optional<IpAddress> ip() const;  // absent for a Unix socket
  std::string to_string() const;        // "127.0.0.1:80", "[::1]:80", "unix:/path"

 private:
  sockaddr_storage storage_{};
  socklen_t size_ = 0;
};

}  // namespace weir::io
