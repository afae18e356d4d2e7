// SPDX-License-Identifier: Apache-2.0
//
// Which address a request comes from when proxies stand in between, and the text under which it is counted.
// Thread safety: pure functions on values.
#pragma once

#include <string>
#include <vector>

#include "weir/base/ip.h"
#include "weir/http/message.h"

namespace weir::identity {

bool is_in(const std::vector<IpNetwork>& networks, const IpAddress& address);

// Walks X-Forwarded-For, all its lines joined, from the right while the entries are trusted proxies: the first that
// is not is the client. An entry that is no address ends the walk at the one before it. The left end, which anybody
// can write, is reached only over trusted entries. Requires: `peer` is trusted itself.
IpAddress client_address(const http::RequestHead& request, const IpAddress& peer,
                         const std::vector<IpNetwork>& trusted);

// Writes the text of the group that is counted as one: "192.0.2.1", or "2001:db8:1:2::/64" for a prefix of 64.
void write_group(const IpAddress& address, int ipv6_prefix, std::string& text);

}  // namespace weir::identity
