// SPDX-License-Identifier: Apache-2.0
#include "weir/identity/client_address.h"

#include <algorithm>
#include <array>
#include <ranges>

#include "weir/identity/sources.h"

namespace weir::identity {
namespace {

constexpr std::size_t kAddressText = 46;  // what IpAddress::write may need

// Walks one line from the right; false when the walk ends in it.
bool walk(std::string_view line, const std::vector<IpNetwork>& trusted, IpAddress& last) {
  for (;;) {
    const std::size_t comma = line.rfind(',');
    const bool leftmost = comma == std::string_view::npos;
    const auto entry = IpAddress::parse_with_port(trimmed(line.substr(leftmost ? 0 : comma + 1)));
    if (!entry) return false;
    last = *entry;
    if (!is_in(trusted, last)) return false;
    if (leftmost) return true;
    line = line.substr(0, comma);
  }
}

}  // namespace

bool is_in(const std::vector<IpNetwork>& networks, const IpAddress& address) {
  return std::ranges::any_of(networks, [&](const IpNetwork& network) { return network.contains(address); });
}

IpAddress client_address(const http::RequestHead& request, const IpAddress& peer,
                         const std::vector<IpNetwork>& trusted) {
  IpAddress last = peer;
  if (!request.has(http::FieldId::kXForwardedFor)) return last;
  for (const http::Field& field : request.fields | std::views::reverse) {
    if (field.id == http::FieldId::kXForwardedFor && !walk(request.value(field), trusted, last)) return last;
  }
  return last;
}

void write_group(const IpAddress& address, int ipv6_prefix, std::string& text) {
  std::array<char, kAddressText> buffer;
  text.assign(buffer.data(), address.grouped(ipv6_prefix).write(buffer.data()));
  if (address.is_v4()) return;
  text += '/';
  if (ipv6_prefix >= 100) text += static_cast<char>('0' + ipv6_prefix / 100);
  if (ipv6_prefix >= 10) text += static_cast<char>('0' + ipv6_prefix / 10 % 10);
  text += static_cast<char>('0' + ipv6_prefix % 10);
}

}  // namespace weir::identity
