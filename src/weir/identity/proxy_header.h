// SPDX-License-Identifier: Apache-2.0
//
// What a load balancer says about a connection before its first byte: the PROXY protocol, version 1 (text) and 2
// (binary). (haproxy.org/download/2.9/doc/proxy-protocol.txt, sections 2.1 and 2.2)
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "weir/base/ip.h"

namespace weir::identity {

struct ProxyHeader {
  enum class State {
    kPartial,  // right so far, more bytes are needed
    kWrong,    // the connection has to end: nothing after it can be trusted
    kComplete,
  };
  State state = State::kPartial;
  std::size_t size = 0;             // bytes of the header, when complete
  std::optional<IpAddress> source;  // absent: the balancer speaks for itself (LOCAL), or does not know the client
};

// The header at the beginning of `bytes`. Version 1 has at most 107 bytes, version 2 here at most 4 KiB.
ProxyHeader parse_proxy_header(std::string_view bytes);

}  // namespace weir::identity
