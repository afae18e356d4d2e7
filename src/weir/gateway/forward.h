// SPDX-License-Identifier: Apache-2.0
//
// The heads that a gateway passes on: the client's request as the upstream gets it, and the upstream's answer as
// the client gets it. Lines are copied as they are, in their order and spelling; hop-by-hop fields go, framing is
// written anew (RFC 9110 section 7.6, RFC 9112 section 6). Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "weir/base/fingerprint.h"
#include "weir/base/text.h"
#include "weir/gateway/problem.h"
#include "weir/gateway/rate_limit_fields.h"
#include "weir/http/message.h"
#include "weir/identity/identifier.h"

namespace weir::gateway {

struct ForwardContext {
  const identity::Identifier& identifier;
  const identity::Peer& peer;
  bool preserve_host = true;
  std::string_view upstream_authority;  // for Host where the client's is not preserved or absent
  std::string_view request_id;
  bool keep_request_id = false;     // the client's own is valid and stays where it is
  std::string_view trace_parent{};  // replaces the client's, which breaks the rules; empty: that stays
};

// Replaces `out` with the request's head for the upstream.
void write_request_head(Text& out, const http::RequestHead& request, const ForwardContext& context);

// True when the head's Via fields name this gateway more often than any real path would.
bool loops(const http::RequestHead& request);

// True when there is a traceparent field, but not exactly one that is valid (W3C Trace Context section 3.2).
bool has_broken_trace(const http::RequestHead& request);
// A traceparent that begins a trace, not sampled. Requires: neither number is zero in all bits.
std::string trace_parent(const Fingerprint& trace, std::uint64_t span);

// True for an identifier that a client may choose: 1 to 128 of [A-Za-z0-9._-].
bool is_valid_request_id(std::string_view id);

// How the answer's body reaches the client.
enum class ClientFraming : std::uint8_t { kNone, kLength, kChunked, kUntilClose };
ClientFraming client_framing(const http::ResponseHead& response, std::uint8_t client_minor_version);

// Appends the answer's head for the client.
void append_response_head(Text& out, const http::ResponseHead& response, ClientFraming framing,
                          const decide::Decision& decision, const RateLimitFields& fields,
                          const AnswerContext& context);

// Appends an interim answer (1xx) for the client.
void append_interim_head(Text& out, const http::ResponseHead& response);

}  // namespace weir::gateway
