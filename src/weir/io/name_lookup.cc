// SPDX-License-Identifier: Apache-2.0
#include "weir/io/name_lookup.h"

#include <fmt/format.h>
#include <netdb.h>

#include <cstring>

namespace weir::io {

Result<std::vector<SocketAddress>> look_up(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | AI_ADDRCONFIG;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failed != 0) {
    return std::unexpected(Error{ErrorKind::kUnavailable, Origin::kUpstream,
                                 fmt::format("cannot resolve {}: {}", host, ::gai_strerror(failed))});
  }
  std::vector<SocketAddress> addresses;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    sockaddr_storage storage{};
    std::memcpy(&storage, one->ai_addr, one->ai_addrlen);
    addresses.push_back(SocketAddress::from(storage, one->ai_addrlen));
  }
  ::freeaddrinfo(found);
  return addresses;
}

}  // namespace weir::io
