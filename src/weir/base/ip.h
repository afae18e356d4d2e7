// SPDX-License-Identifier: Apache-2.0
//
// IP addresses and networks as values. Every address is kept in its 16-byte form; IPv4 is v4-mapped, so that
// `::ffff:1.2.3.4`, `64:ff9b::1.2.3.4` (RFC 6052) and `1.2.3.4` are one address. Thread safety: plain values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

struct sockaddr;

namespace weir {

class IpAddress {
 public:
  IpAddress() = default;  // ::

  // Strict text forms only: dotted quad without leading zeros, RFC 4291 text. No port, brackets or zone.
  static std::optional<IpAddress> parse(std::string_view text);
  // As `parse`, and additionally `1.2.3.4:55`, `[2001:db8::1]:55`, `[2001:db8::1]`, and a zone id (dropped).
  static std::optional<IpAddress> parse_with_port(std::string_view text);
  // Requires: AF_INET or AF_INET6.
  static IpAddress from(const sockaddr& address);
  // 4 bytes of an IPv4 address or 16 of IPv6, in network order. Requires: one of the two.
  static IpAddress from_bytes(std::string_view bytes);

  bool is_v4() const;
  // IPv6 cut to its first `bits`; IPv4 as it is.
  IpAddress grouped(int bits) const;
  // Canonical text (RFC 5952). Returns the number of characters written.
  // Requires: room for 46 characters.
  std::size_t write(char* out) const;
  std::string to_string() const;

  const std::array<std::uint8_t, 16>& bytes() const { return bytes_; }
  bool operator==(const IpAddress&) const = default;

 private:
  friend class IpNetwork;
  std::array<std::uint8_t, 16> bytes_{};
};

// A network such as `10.0.0.0/8` or `2001:db8::/32`; a bare address is a network of one. IPv4 addresses are in
// IPv4 networks only: `::/0` does not contain them.
class IpNetwork {
 public:
  static std::optional<IpNetwork> parse(std::string_view text);
  bool contains(const IpAddress& address) const;
  bool operator==(const IpNetwork&) const = default;

 private:
  IpAddress base_;
  int bits_ = 128;  // of the 16-byte form
};

}  // namespace weir
