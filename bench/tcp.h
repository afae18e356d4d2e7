// SPDX-License-Identifier: Apache-2.0
//
// The few socket calls that the load generator and the origin share. IPv4 only: both ends are on this machine.
// Failures are -1 with errno set.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <string>

namespace weir::bench {

sockaddr_in loopback(std::uint16_t port);

// A non-blocking listener. TCP_NODELAY is inherited by accepted connections.
int listen_at(const sockaddr_in& address);

// A connection that is established and still blocking, with TCP_NODELAY.
int connect_to(const sockaddr_in& address);

bool set_nonblocking(int fd);

}  // namespace weir::bench
