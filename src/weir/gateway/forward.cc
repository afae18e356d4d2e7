// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/forward.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir::gateway {
namespace {

using http::BodyKind;
using http::Field;
using http::FieldId;

template <class... Ids>
constexpr std::uint64_t bits(Ids... ids) {
  return ((std::uint64_t{1} << static_cast<unsigned>(ids)) | ...);
}

constexpr bool in(std::uint64_t set, FieldId id) { return (set >> static_cast<unsigned>(id)) & 1U; }

// Fields of one hop only, and those that are written anew.
constexpr std::uint64_t kHopByHop =
    bits(FieldId::kConnection, FieldId::kKeepAlive, FieldId::kProxyConnection, FieldId::kTe, FieldId::kTrailer,
         FieldId::kTransferEncoding, FieldId::kUpgrade, FieldId::kContentLength);
constexpr std::uint64_t kRequestDropped =
    kHopByHop | bits(FieldId::kProxyAuthorization, FieldId::kExpect, FieldId::kHttp2Settings, FieldId::kForwarded,
                     FieldId::kXForwardedFor);
// Claims about the client that only a trusted proxy may make.
constexpr std::uint64_t kClaims = bits(FieldId::kXForwardedHost, FieldId::kXForwardedPort, FieldId::kXForwardedProto,
                                       FieldId::kXRealIp, FieldId::kTrueClientIp, FieldId::kCfConnectingIp);

// A sender cannot have these removed by naming them in Connection: the gateway sets them, or decides by them.
constexpr std::uint64_t kNotNamedAway =
    kClaims | bits(FieldId::kAuthorization, FieldId::kDate, FieldId::kHost, FieldId::kTraceparent,
                   FieldId::kTracestate, FieldId::kVia, FieldId::kXRequestId);

constexpr std::size_t kMostForwardedFor = 32;
constexpr int kMostLoops = 10;
constexpr std::string_view kPseudonym = "weir";

std::string_view trim(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// Calls `each` with every element of a comma-separated field value.
template <class Each>
void for_each_element(std::string_view value, Each&& each) {
  while (true) {
    const std::size_t comma = value.find(',');
    each(trim(value.substr(0, comma)));
    if (comma == std::string_view::npos) return;
    value.remove_prefix(comma + 1);
  }
}

template <class Head>
bool named_in_connection(const Head& head, std::string_view name) {
  bool named = false;
  for (const Field& field : head.fields) {
    if (field.id != FieldId::kConnection) continue;
    for_each_element(head.value(field), [&](std::string_view option) { named |= http::same_name(option, name); });
  }
  return named;
}

// Copies the field lines for which `keeps` is true, in as few pieces as possible.
template <class Head, class Keeps>
void copy_lines(Text& out, const Head& head, Keeps&& keeps) {
  std::size_t begin = 0;
  std::size_t end = 0;
  for (const Field& field : head.fields) {
    if (!keeps(field)) continue;
    if (field.line_at != end) {
      out.append(head.bytes.substr(begin, end - begin));
      begin = field.line_at;
    }
    end = field.line_end;
  }
  out.append(head.bytes.substr(begin, end - begin));
}

void append_forwarded_for(Text& out, const http::RequestHead& request, const identity::Peer& peer) {
  out.append("X-Forwarded-For: ");
  if (peer.trusted && request.has(FieldId::kXForwardedFor)) {
    std::size_t total = 0;
    for (const Field& field : request.fields) {
      if (field.id == FieldId::kXForwardedFor) for_each_element(request.value(field), [&](auto) { ++total; });
    }
    // The entries nearest to us are the ones that somebody vouches for.
    std::size_t skip = total >= kMostForwardedFor ? total - (kMostForwardedFor - 1) : 0;
    for (const Field& field : request.fields) {
      if (field.id != FieldId::kXForwardedFor) continue;
      for_each_element(request.value(field), [&](std::string_view entry) {
        if (skip > 0) {
          --skip;
        } else if (!entry.empty()) {
          out.append(entry).append(", ");
        }
      });
    }
  }
  out.append(peer.text).append("\r\n");
}

// Versions above 00 may have more behind another dash.
bool is_valid_traceparent(std::string_view value) {
  constexpr std::size_t kSize = 55;
  if (value.size() < kSize || value[2] != '-' || value[35] != '-' || value[52] != '-') return false;
  if (value.size() > kSize && (value.starts_with("00") || value[kSize] != '-')) return false;
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  for (std::size_t i = 0; i < kSize; ++i) {
    if (i != 2 && i != 35 && i != 52 && !is_hex(value[i])) return false;
  }
  const auto all_zero = [](std::string_view part) { return part.find_first_not_of('0') == std::string_view::npos; };
  return !all_zero(value.substr(3, 32)) && !all_zero(value.substr(36, 16)) && value.substr(0, 2) != "ff";
}

// The upstream's status and reason under our version; the space behind the status belongs there even without a
// reason.
void append_status_line(Text& out, const http::ResponseHead& response) {
  const std::string_view line = response.bytes.substr(0, response.bytes.find('\r'));
  constexpr std::size_t kVersion = 8;
  constexpr std::size_t kUpToStatus = 12;
  out.append("HTTP/1.1").append(line.substr(kVersion));
  out.append(line.size() == kUpToStatus ? std::string_view(" \r\n") : std::string_view("\r\n"));
}

void append_framing(Text& out, const http::RequestHead& request) {
  const auto is = [&](http::Method method) { return request.method_id == method; };
  if (request.body.kind == BodyKind::kChunked) {
    out.append("Transfer-Encoding: chunked\r\n");
  } else if (request.body.kind == BodyKind::kLength) {
    out.append("Content-Length: ");
    out.number(static_cast<std::int64_t>(request.body.length));
    out.append("\r\n");
  } else if (is(http::Method::kPost) || is(http::Method::kPut) || is(http::Method::kPatch)) {
    out.append("Content-Length: 0\r\n");
  }
}

}  // namespace

void write_request_head(Text& out, const http::RequestHead& request, const ForwardContext& context) {
  out.clear();
  out.append(request.method).append(" ").append(request.path).append(request.query).append(" HTTP/1.1\r\n");

  std::uint64_t dropped = kRequestDropped;
  if (!context.peer.trusted) dropped |= kClaims;
  if (!context.keep_request_id) dropped |= bits(FieldId::kXRequestId);
  if (!context.trace_parent.empty()) dropped |= bits(FieldId::kTraceparent, FieldId::kTracestate);
  const bool rewrite_host = !context.preserve_host || request.absolute_form || request.host.empty();
  if (rewrite_host) {
    dropped |= bits(FieldId::kHost);
    const bool own = !context.preserve_host || request.host.empty();
    out.append("Host: ").append(own ? context.upstream_authority : request.host).append("\r\n");
  }
  copy_lines(out, request, [&](const Field& field) {
    if (in(dropped, field.id)) return false;
    if (!context.peer.trusted && context.identifier.is_claim(request, field)) return false;
    if (!request.names_fields || in(kNotNamedAway, field.id)) return true;
    const std::string_view name = field.name(request.bytes);
    return context.identifier.is_identity_field(name) || !named_in_connection(request, name);
  });

  append_forwarded_for(out, request, context.peer);
  if (!context.peer.trusted || !request.has(FieldId::kXForwardedProto)) out.append("X-Forwarded-Proto: http\r\n");
  if (!request.host.empty() && (!context.peer.trusted || !request.has(FieldId::kXForwardedHost))) {
    out.append("X-Forwarded-Host: ").append(request.host).append("\r\n");
  }
  if (!context.keep_request_id) out.append("X-Request-Id: ").append(context.request_id).append("\r\n");
  if (!context.trace_parent.empty()) out.append("traceparent: ").append(context.trace_parent).append("\r\n");
  out.append("Via: 1.").number(request.minor_version == 0 ? 0 : 1).append(" weir\r\n");
  append_framing(out, request);
  out.append("\r\n");
}

bool loops(const http::RequestHead& request) {
  if (!request.has(FieldId::kVia)) return false;
  int seen = 0;
  for (const Field& field : request.fields) {
    if (field.id != FieldId::kVia) continue;
    for_each_element(request.value(field), [&](std::string_view hop) {
      const std::size_t space = hop.find(' ');
      if (space == std::string_view::npos) return;
      const std::string_view by = trim(hop.substr(space));
      if (by.substr(0, by.find(' ')) == kPseudonym) ++seen;
    });
  }
  return seen > kMostLoops;
}

bool has_broken_trace(const http::RequestHead& request) {
  if (!request.has(FieldId::kTraceparent)) return false;
  const Field* trace = request.only(FieldId::kTraceparent);
  return trace == nullptr || !is_valid_traceparent(request.value(*trace));
}

std::string trace_parent(const Fingerprint& trace, std::uint64_t span) {
  return fmt::format("00-{:016x}{:016x}-{:016x}-00", trace.high, trace.low, span);
}

bool is_valid_request_id(std::string_view id) {
  return !id.empty() && id.size() <= 128 && std::ranges::all_of(id, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  });
}

ClientFraming client_framing(const http::ResponseHead& response, std::uint8_t client_minor_version) {
  switch (response.body.kind) {
    case BodyKind::kNone:
      return ClientFraming::kNone;
    case BodyKind::kLength:
      return ClientFraming::kLength;
    case BodyKind::kChunked:
    case BodyKind::kUntilClose:
      break;
  }
  return client_minor_version == 0 ? ClientFraming::kUntilClose : ClientFraming::kChunked;
}

void append_response_head(Text& out, const http::ResponseHead& response, ClientFraming framing,
                          const decide::Decision& decision, const RateLimitFields& fields,
                          const AnswerContext& context) {
  append_status_line(out, response);
  std::uint64_t dropped = kHopByHop | bits(FieldId::kXRequestId) | fields.replaced(decision, response);
  // An answer without a body to HEAD, or a 304, may tell the length that GET would have had.
  const bool tells_length =
      framing == ClientFraming::kNone && response.status != 204 && !response.has(FieldId::kTransferEncoding);
  if (tells_length) dropped &= ~bits(FieldId::kContentLength);
  copy_lines(out, response, [&](const Field& field) {
    if (in(dropped, field.id)) return false;
    return !response.names_fields || in(kNotNamedAway, field.id) ||
           !named_in_connection(response, field.name(response.bytes));
  });
  if (!response.has(FieldId::kDate)) out.append("Date: ").append(context.date).append("\r\n");
  out.append("X-Request-Id: ").append(context.request_id).append("\r\n");
  fields.append_merged(out, decision, response, context.wall);
  if (framing == ClientFraming::kLength) {
    out.append("Content-Length: ");
    out.number(static_cast<std::int64_t>(response.body.length));
    out.append("\r\n");
  } else if (framing == ClientFraming::kChunked) {
    out.append("Transfer-Encoding: chunked\r\n");
  }
  if (!context.keep_alive) {
    out.append("Connection: close\r\n");
  } else if (context.minor_version == 0) {
    out.append("Connection: keep-alive\r\n");
  }
  out.append("\r\n");
}

void append_interim_head(Text& out, const http::ResponseHead& response) {
  append_status_line(out, response);
  copy_lines(out, response, [&](const Field& field) { return !in(kHopByHop, field.id); });
  out.append("\r\n");
}

}  // namespace weir::gateway
