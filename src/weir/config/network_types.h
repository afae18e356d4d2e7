// SPDX-License-Identifier: Apache-2.0
//
// Where things are: addresses to listen on, upstream URLs, networks.
#pragma once

#include <string_view>

#include "weir/base/ip.h"
#include "weir/config/config.h"
#include "weir/config/type.h"

namespace weir::config {

// `0.0.0.0:8080`, `[::1]:80`, `unix:/path`. The host is a literal address.
Parsed<Endpoint> parse_listen_address(std::string_view text);
Type<Endpoint> listen_address();

// `http://name:port` or `unix:/path`.
Parsed<Endpoint> parse_upstream_url(std::string_view text);
Type<Endpoint> upstream_url();

// `redis://user:password@name:port/database`, `rediss://` for TLS, `unix:/path`, `unix://user:password@/path`.
// User and password are percent-encoded; the text of the endpoint and faults are without them.
Parsed<RedisUrl> parse_redis_url(std::string_view text);
Type<RedisUrl> redis_url();

Type<IpNetwork> network();

// True for a TCP address with port 0: any number of them can be listened on.
bool is_any_port(const Endpoint& endpoint);

// True for Unix sockets and for addresses that only this machine can reach.
bool is_local(const Endpoint& endpoint);

}  // namespace weir::config
