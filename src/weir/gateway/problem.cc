// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/problem.h"

#include <array>
#include <charconv>

#include "weir/gateway/access_log.h"
#include "weir/http/status.h"

namespace weir::gateway {
namespace {

constexpr std::string_view kQuotaExceeded = "https://iana.org/assignments/http-problem-types#quota-exceeded";
constexpr std::string_view kReducedCapacity =
    "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity";
constexpr limit::Ticks kTicksPerMillisecond = 1'000'000;

void begin_head(Text& out, int status, const AnswerContext& context) {
  out.clear();
  out.append("HTTP/1.1 ")
      .number(status)
      .append(" ")
      .append(http::reason_phrase(status))
      .append("\r\nDate: ")
      .append(context.date);
  out.append("\r\nServer: weir\r\nCache-Control: no-store\r\n");
  if (!context.request_id.empty()) out.append("X-Request-Id: ").append(context.request_id).append("\r\n");
  if (!context.keep_alive) {
    out.append("Connection: close\r\n");
  } else if (context.minor_version == 0) {
    out.append("Connection: keep-alive\r\n");
  }
}

// Ends the head and adds the body. Its length is known only when it is written, so the digits are put in their place
// afterwards: three of them nearly always, which then moves nothing.
class Body {
 public:
  explicit Body(Text& out) : out_(out) {
    out_.append("Content-Type: application/problem+json\r\nContent-Length: ");
    length_at_ = out_.size();
    out_.append("000\r\n\r\n");
    start_ = out_.size();
  }
  std::size_t finish(bool head_only) {
    const std::size_t size = out_.size() - start_;
    if (head_only) out_.cut(start_);
    std::array<char, Text::kMostDigits> digits;
    const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), size).ptr;
    out_.replace(length_at_, kUsualDigits, std::string_view(digits.data(), end));
    return head_only ? 0 : size;
  }

 private:
  static constexpr std::size_t kUsualDigits = 3;

  Text& out_;
  std::size_t length_at_ = 0;
  std::size_t start_ = 0;
};

void append_detail(Text& out, std::string_view text, std::int64_t retry_after) {
  constexpr std::string_view kPlaceholder = "{retry_after}";
  for (std::size_t at = 0; (at = text.find(kPlaceholder)) != std::string_view::npos;) {
    append_json_text(out, text.substr(0, at));
    out.number(retry_after);
    text.remove_prefix(at + kPlaceholder.size());
  }
  append_json_text(out, text);
}

}  // namespace

std::size_t write_problem(Text& out, const Problem& problem, const AnswerContext& context,
                          const RateLimitFields* fields, const decide::Decision* decision) {
  begin_head(out, problem.status, context);
  out.append(problem.fields);
  if (fields != nullptr && decision != nullptr) fields->append(out, *decision, problem.status, context.wall);
  Body body(out);
  out.append("{\"type\":\"").append(problem.status == 503 ? kReducedCapacity : "about:blank");
  out.append("\",\"title\":\"")
      .append(problem.status == 503 ? "Temporary Reduced Capacity" : http::reason_phrase(problem.status));
  out.append("\",\"status\":");
  out.number(problem.status);
  out.append(",\"code\":\"").append(problem.code).append("\",\"detail\":\"");
  append_json_text(out, problem.detail);
  if (!context.request_id.empty()) out.append("\",\"request_id\":\"").append(context.request_id);
  out.append("\"}");
  return body.finish(context.head_only);
}

std::size_t write_refusal(Text& out, const decide::Decision& decision, const RateLimitFields& fields,
                          std::string_view detail_template, const AnswerContext& context) {
  const auto retry_after = decision.retry_after();
  begin_head(out, 429, context);
  if (retry_after) {
    out.append("Retry-After: ");
    out.number(wire_seconds(*retry_after));
    out.append("\r\n");
  }
  fields.append(out, decision, 429, context.wall);
  Body body(out);
  out.append("{\"type\":\"")
      .append(kQuotaExceeded)
      .append("\",\"title\":\"Quota Exceeded\",\"status\":429,\"detail\":\"");
  if (retry_after) {
    append_detail(out, detail_template, wire_seconds(*retry_after));
  } else {
    out.append(fields.capacity(*decision.binding()) == 0
                   ? "The limit that applies allows no requests."
                   : "The cost of this request is above what the limit ever allows; waiting does not help.");
  }
  out.append("\",\"code\":\"quota-exceeded\",\"violated-policies\":[");
  fields.append_violated(out, decision);
  out.append("]");
  if (retry_after) {
    out.append(",\"retry_after_ms\":");
    out.number((*retry_after + kTicksPerMillisecond - 1) / kTicksPerMillisecond);
  }
  if (!context.request_id.empty()) out.append(",\"request_id\":\"").append(context.request_id).append("\"");
  out.append("}");
  return body.finish(context.head_only);
}

void write_options(Text& out, const AnswerContext& context) {
  begin_head(out, 204, context);
  out.append("Allow: GET, HEAD, POST, PUT, DELETE, OPTIONS, PATCH\r\n\r\n");
}

}  // namespace weir::gateway
