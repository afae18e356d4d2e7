// SPDX-License-Identifier: Apache-2.0
//
// Answers that weir gives itself: refusals and faults as problem documents (RFC 9457) with the fields that every
// answer of the gateway carries. Written into memory that is already there.
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "weir/base/clock.h"
#include "weir/base/text.h"
#include "weir/decide/decision.h"
#include "weir/gateway/rate_limit_fields.h"

namespace weir::gateway {

// What an answer needs to know about the request and the connection.
struct AnswerContext {
  std::string_view date;  // of this second, 29 bytes
  WallTime wall;
  std::string_view request_id;  // empty: none
  bool head_only = false;       // the request was HEAD: fields of GET, no body
  bool keep_alive = true;
  std::uint8_t minor_version = 1;
};

// A fault or a refusal that is not about limits.
struct Problem {
  int status = 400;
  std::string_view code;         // stable, short, e.g. "no-route"
  std::string_view detail;       // one sentence, plain ASCII
  std::string_view fields;       // further lines with CRLF, e.g. "Allow: GET\r\n"
  bool ends_connection = false;  // the message is not one that a careful peer sends: nothing more is read from it
};

// Replaces `out` with the whole answer; returns the size of its body. Of a request that was admitted, and charged,
// also with the fields that say so.
std::size_t write_problem(Text& out, const Problem& problem, const AnswerContext& context,
                          const RateLimitFields* fields = nullptr, const decide::Decision* decision = nullptr);

// The 429 of a refused decision, likewise. `detail_template` may hold {retry_after}. Requires: decision.admitted is
// false and some limit refused.
std::size_t write_refusal(Text& out, const decide::Decision& decision, const RateLimitFields& fields,
                          std::string_view detail_template, const AnswerContext& context);

// The answer to OPTIONS *.
void write_options(Text& out, const AnswerContext& context);

}  // namespace weir::gateway
