// SPDX-License-Identifier: Apache-2.0
//
// Readings of the fields that decide where a message ends and what becomes of its connection (RFC 9112 sections 6
// and 9), the same for requests and responses. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weir::http {

// A Content-Length: decimal digits without a leading zero, below 2^63. Absent: anything else, lists included.
std::optional<std::uint64_t> read_content_length(std::string_view value);

enum class TransferCoding : std::uint8_t {
  kChunked,
  kOther,    // a well-formed list of registered codings that weir does not apply, e.g. "gzip, chunked"
  kInvalid,  // anything else
};
TransferCoding read_transfer_encoding(std::string_view value);

// Bits of what a Connection field names.
inline constexpr std::uint32_t kNamesClose = 1;
inline constexpr std::uint32_t kNamesKeepAlive = 2;
inline constexpr std::uint32_t kNamesUpgrade = 4;
inline constexpr std::uint32_t kNamesOther = 8;
std::uint32_t read_connection(std::string_view value);

// What version and Connection say about the next message. Close wins over keep-alive.
constexpr bool asks_keep_alive(std::uint8_t minor_version, std::uint32_t connection) {
  if ((connection & kNamesClose) != 0) return false;
  return minor_version >= 1 || (connection & kNamesKeepAlive) != 0;
}

// host [ ":" port ] with a host of letters, digits, '-', '.', '_', or an IPv6 literal in brackets; no user name, no
// empty host, no empty port.
bool is_authority(std::string_view text);

}  // namespace weir::http
