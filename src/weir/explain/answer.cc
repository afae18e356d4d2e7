// SPDX-License-Identifier: Apache-2.0
#include "weir/explain/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "weir/accounts/limit_text.h"
#include "weir/gateway/problem.h"
#include "weir/http/date.h"
#include "weir/http/field.h"
#include "weir/http/status.h"

namespace weir::explain {
namespace {

using Kind = gateway::Verdict::Kind;

// What every answer has, and says nothing about this one.
bool is_usual(std::string_view name) {
  constexpr std::array<std::string_view, 6> kUsual{"Date",         "Server",         "Cache-Control",
                                                   "Content-Type", "Content-Length", "Connection"};
  return std::ranges::find(kUsual, name) != kUsual.end();
}

// Takes the lines of a head apart; `text` begins with the first field.
void take_fields(std::string_view text, AnswerFacts& answer) {
  while (!text.empty()) {
    const std::size_t end = text.find("\r\n");
    const std::string_view line = text.substr(0, end);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) break;
    const std::string_view name = line.substr(0, colon);
    if (!is_usual(name)) answer.fields.emplace_back(name, line.substr(std::min(colon + 2, line.size())));
    text.remove_prefix(std::min(text.size(), end + 2));
  }
}

// A whole answer.
void take_message(std::string_view message, AnswerFacts& answer) {
  const std::size_t head = message.find("\r\n\r\n");
  answer.body = message.substr(head + 4);
  message = message.substr(0, head + 2);
  take_fields(message.substr(message.find("\r\n") + 2), answer);
}

gateway::AnswerContext context(const std::string& date, const Occasion& occasion) {
  return {.date = date, .wall = occasion.now, .request_id = {}, .head_only = occasion.head_only};
}

std::string name_of(const gateway::Generation& generation, const decide::LimitOutcome& outcome) {
  return generation.policy.limits()[outcome.limit].name;
}

AnswerFacts refusal(const decide::Decision& decision, const gateway::Generation& generation,
                    const Occasion& occasion) {
  AnswerFacts answer{.word = "refuse", .status = 429, .code = "quota-exceeded"};
  Text out;
  const std::string date = http::imf_date(occasion.now);
  gateway::write_refusal(out, decision, generation.fields, generation.config.responses.refusal_detail,
                         context(date, occasion));
  take_message(out.view(), answer);
  answer.binding = name_of(generation, *decision.binding());
  const auto wait = decision.retry_after();
  answer.text = fmt::format(
      "429 Too Many Requests: limit {} refuses it; {}", answer.binding,
      wait ? fmt::format("it passes in {}", accounts::round_text(nanoseconds(*wait))) : std::string("no wait helps"));
  return answer;
}

AnswerFacts problem_of(const gateway::Problem& problem, const Occasion& occasion) {
  AnswerFacts answer{.word = "problem",
                     .status = problem.status,
                     .code = std::string(problem.code),
                     .detail = std::string(problem.detail)};
  Text out;
  const std::string date = http::imf_date(occasion.now);
  gateway::write_problem(out, problem, context(date, occasion));
  take_message(out.view(), answer);
  answer.text =
      fmt::format("{} {}: {} ({})", answer.status, http::reason_phrase(answer.status), answer.detail, answer.code);
  return answer;
}

AnswerFacts forwarded(const gateway::Verdict& verdict, const decide::Decision& decision,
                      const gateway::Generation& generation, const Occasion& occasion) {
  AnswerFacts answer{.word = "forward"};
  const config::Service& service = generation.config.services[verdict.service];
  answer.text = fmt::format("forwarded to upstream {}", generation.config.upstreams[service.upstream].name);
  if (verdict.bypass) answer.text += ", without any limit";
  http::ResponseHead plain;  // of an upstream that says nothing of limits
  plain.status = 200;
  Text out;
  generation.fields.append_merged(out, decision, plain, occasion.now);
  take_fields(out.view(), answer);
  if (const auto* binding = decision.binding()) answer.binding = name_of(generation, *binding);
  for (const decide::LimitOutcome& one : decision.outcomes) {
    answer.delay = std::max(answer.delay, nanoseconds(one.outcome.delay));
  }
  return answer;
}

AnswerFacts options(const Occasion& occasion) {
  AnswerFacts answer{.word = "options", .status = 204};
  answer.text = "204 No Content: the gateway itself answers OPTIONS *";
  Text out;
  const std::string date = http::imf_date(occasion.now);
  gateway::write_options(out, context(date, occasion));
  take_message(out.view(), answer);
  return answer;
}

}  // namespace

AnswerFacts answer_of(const gateway::Verdict& verdict, const decide::Decision& decision,
                      const gateway::Generation& generation, const Occasion& occasion) {
  switch (verdict.kind) {
    case Kind::kForward:
    case Kind::kDecide:
    case Kind::kLookUp:
      return forwarded(verdict, decision, generation, occasion);
    case Kind::kRefuse:
      return refusal(decision, generation, occasion);
    case Kind::kProblem:
      return problem_of(verdict.problem, occasion);
    case Kind::kOptions:
      break;
  }
  return options(occasion);
}

AnswerFacts answer_of(const http::Rejection& rejection, WallTime now) {
  return problem_of({rejection.status, rejection.code, rejection.detail, {}}, {.now = now});
}

}  // namespace weir::explain
