// SPDX-License-Identifier: Apache-2.0
#include "weir/io/socket_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>

namespace weir::io {

std::optional<SocketAddress> SocketAddress::literal(const std::string& host, std::uint16_t port) {
  SocketAddress address;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage_);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage_);
  if (::inet_pton(AF_INET, host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    address.size_ = sizeof(sockaddr_in);
  } else if (::inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    address.size_ = sizeof(sockaddr_in6);
  } else {
    return std::nullopt;
  }
  return address;
}

std::optional<SocketAddress> SocketAddress::unix_path(std::string_view path) {
  SocketAddress address;
  auto* un = reinterpret_cast<sockaddr_un*>(&address.storage_);
  if (path.empty() || path.size() >= sizeof un->sun_path) return std::nullopt;
  un->sun_family = AF_UNIX;
  std::memcpy(un->sun_path, path.data(), path.size());
  address.size_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  return address;
}

SocketAddress SocketAddress::from(const sockaddr_storage& storage, socklen_t size) {
  SocketAddress address;
  address.storage_ = storage;
  address.size_ = size;
  return address;
}

SocketAddress SocketAddress::of_socket(int descriptor) {
  SocketAddress address;
  address.size_ = sizeof address.storage_;
  ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address.storage_), &address.size_);
  return address;
}

std::uint16_t SocketAddress::port() const {
  if (family() == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in*>(&storage_)->sin_port);
  if (family() == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6*>(&storage_)->sin6_port);
  return 0;
}

std::optional<IpAddress> SocketAddress::ip() const {
  if (family() != AF_INET && family() != AF_INET6) return std::nullopt;
  return IpAddress::from(*get());
}

std::string SocketAddress::to_string() const {
  if (const auto address = ip()) {
    return family() == AF_INET6 ? fmt::format("[{}]:{}", address->to_string(), port())
                                : fmt::format("{}:{}", address->to_string(), port());
  }
  return fmt::format("unix:{}", reinterpret_cast<const sockaddr_un*>(&storage_)->sun_path);
}

}  // namespace weir::io
