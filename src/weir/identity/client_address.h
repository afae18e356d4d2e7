// SPDX-License-Identifier: Apache-2.0
//
// Which address a request comes from when proxies stand in between, and the text under which it is counted.
// Thread safety: pure functions on values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weir/base/ip.h"
#include "weir/config/config.h"
#include "weir/http/message.h"
#include "weir/identity/sources.h"

namespace weir::identity {

bool is_in(const std::vector<IpNetwork>& networks, const IpAddress& address);

// In which field trusted proxies tell who is behind them. Compiled from config::ClientAddress.
struct AddressField {
  enum class Form : std::uint8_t {
    kList,       // X-Forwarded-For
    kForwarded,  // RFC 7239
    kSingle,     // any other: one address
  };

  explicit AddressField(const config::ClientAddress& configured);

  FieldName field;
  Form form;
  std::uint32_t trusted_hops;
};

// Walks the list, all its lines joined, from the right while the entries are trusted proxies: the first that is not
// is the client. An entry that is no address ends the walk at the one before it. The left end, which anybody can
// write, is reached only over trusted entries. With trusted_hops the client is the entry so many places from the
// right, or the peer if there are fewer or that one is no address. Requires: `peer` is trusted itself.
IpAddress client_address(const http::RequestHead& request, const IpAddress& peer,
                         const std::vector<IpNetwork>& trusted, const AddressField& field);

// Writes the text of the group that is counted as one: "192.0.2.1", or "2001:db8:1:2::/64" for a prefix of 64.
void write_group(const IpAddress& address, int ipv6_prefix, std::string& text);

}  // namespace weir::identity
