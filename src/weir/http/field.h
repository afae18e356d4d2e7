// SPDX-License-Identifier: Apache-2.0
//
// Header fields as the parser leaves them: spans into the message's bytes, in order, with an id for the names
// that weir knows. Names are compared without case (RFC 9110 section 5.1). Nothing here owns bytes.
// Thread safety: plain values.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace weir::http {

// Names that decide something in a gateway. kOther is every name that is not in the list.
enum class FieldId : std::uint8_t {
  kOther,
  kAuthorization,
  kCacheControl,
  kCfConnectingIp,
  kConnection,
  kContentLength,
  kContentType,
  kCookie,
  kDate,
  kExpect,
  kForwarded,
  kHost,
  kHttp2Settings,
  kKeepAlive,
  kProxyAuthorization,
  kProxyConnection,
  kRateLimit,
  kRateLimitLimit,
  kRateLimitPolicy,
  kRateLimitRemaining,
  kRateLimitReset,
  kRetryAfter,
  kServer,
  kTe,
  kTraceparent,
  kTracestate,
  kTrailer,
  kTransferEncoding,
  kTrueClientIp,
  kUpgrade,
  kVia,
  kXForwardedFor,
  kXForwardedHost,
  kXForwardedPort,
  kXForwardedProto,
  kXRateLimitLimit,
  kXRateLimitRemaining,
  kXRateLimitReset,
  kXRealIp,
  kXRequestId,
  kCount,
};

// The id of a name, in any case; kOther when it is not known. Reads nothing beyond the name.
FieldId field_id(std::string_view name);

// The usual spelling, e.g. "Content-Length". Requires: id is neither kOther nor kCount.
std::string_view field_name(FieldId id);

// Equal without regard to ASCII case.
bool same_name(std::string_view a, std::string_view b);

// One field line. Offsets count from the first byte of the head.
struct Field {
  std::uint32_t line_at = 0;  // first byte of the name
  std::uint32_t value_at = 0;
  std::uint32_t value_size = 0;  // without space and tab around it
  std::uint32_t line_end = 0;    // behind the line's CRLF
  std::uint16_t name_size = 0;
  FieldId id = FieldId::kOther;

  std::string_view name(std::string_view head) const { return head.substr(line_at, name_size); }
  std::string_view value(std::string_view head) const { return head.substr(value_at, value_size); }
  // The whole line with its CRLF.
  std::string_view line(std::string_view head) const { return head.substr(line_at, line_end - line_at); }
};

}  // namespace weir::http
