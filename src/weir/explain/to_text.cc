// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "weir/accounts/limit_text.h"
#include "weir/explain/explanation.h"
#include "weir/explain/printable.h"

namespace weir::explain {
namespace {

using accounts::round_text;

// All that is printed goes through here.
void line(std::string& out, std::string_view text) { out += printable(text) + '\n'; }

// Names stand left in one column, what is said of them behind it.
void line(std::string& out, std::string_view name, std::string_view text) {
  line(out, fmt::format("  {:<10} {}", name, text));
}

void write_route(const Explanation& explanation, std::string& out) {
  if (!explanation.route) return;
  const RouteFacts& route = *explanation.route;
  const std::string host = route.host.empty() ? "every host" : "host " + route.host;
  const std::string path = route.path.empty() ? "" : ", path " + route.path;
  out += "\nroute\n";
  line(out, "service", fmt::format("{} ({}{})", route.service, host, path));
  if (route.read_as != explanation.request.path) line(out, "read as", route.read_as);
  line(out, "endpoint", route.endpoint.empty() ? "none that a limit names" : route.endpoint);
  line(out, "upstream", fmt::format("{} ({})", route.upstream, fmt::join(route.addresses, ", ")));
}

void write_caller(const Explanation& explanation, std::string& out) {
  if (explanation.attributes.empty()) return;
  std::size_t names = 0;
  std::size_t values = 1;
  for (const AttributeFacts& one : explanation.attributes) {
    names = std::max(names, one.name.size());
    values = std::max(values, std::min<std::size_t>(printable(one.value).size(), 40));
  }
  out += "\ncaller\n";
  for (const AttributeFacts& one : explanation.attributes) {
    const std::string value = one.value.empty() ? "-" : printable(one.value);
    line(out, fmt::format("  {:<{}}  {:<{}}  {}", one.name, names, value, values, one.text));
  }
  if (explanation.bypass) line(out, fmt::format("  not limited: {}", *explanation.bypass));
  for (const std::string& note : explanation.notes) line(out, fmt::format("  note: {}", note));
  if (explanation.policies) line(out, fmt::format("  policies: {}", explanation.policies->text));
}

std::string counter_text(const LimitFacts& limit) {
  std::string text = limit.account;
  if (limit.by_endpoint) text += limit.endpoint.empty() ? ", no endpoint" : ", " + limit.endpoint;
  if (!limit.method.empty()) text += " [" + limit.method + "]";
  return limit.key.empty() ? text : text + " (" + limit.key + ")";
}

std::string assumed_text(const LimitFacts& limit) {
  const char* whose = limit.without_store == "local" ? "the gateway's own share, never used," : "never used it";
  return fmt::format("not known; {} has {} remaining", whose, limit.count->remaining);
}

std::string state_text(const LimitFacts& limit) {
  if (!limit.count) return "not known";
  const CountFacts& count = *limit.count;
  std::string text =
      count.known ? fmt::format("{} used, {} remaining", count.used, count.remaining) : assumed_text(limit);
  if (count.full_after.count() > 0) text += fmt::format(", full in {}", round_text(count.full_after));
  if (count.admits) return text + "; admits it";
  text += limit.shadow ? "; would refuse it" : "; refuses it";
  return text + (count.retry_after ? fmt::format(", for {}", round_text(*count.retry_after)) : ", whenever it comes");
}

void write_limit(const LimitFacts& limit, std::string& out) {
  line(out, fmt::format("  {}{}: {}{}", limit.applies ? "+ " : "- ", limit.name, limit.text,
                        limit.binds ? "; it binds" : ""));
  if (!limit.applies) return;
  const auto more = [&](std::string_view name, std::string_view text) {
    line(out, fmt::format("      {:<8} {}", name, text));
  };
  more("rate", fmt::format("{} {}, from {}", limit.algorithm, limit.numbers, limit.numbers_from));
  more("cost",
       limit.cost_from.empty() ? fmt::format("{}", limit.cost) : fmt::format("{} ({})", limit.cost, limit.cost_from));
  more("account", counter_text(limit));
  more("state", state_text(limit));
}

void write_limits(const Explanation& explanation, std::string& out) {
  if (explanation.limits.empty()) return;
  out += "\nlimits\n";
  for (const LimitFacts& limit : explanation.limits) write_limit(limit, out);
  if (explanation.counters) line(out, fmt::format("  counters: {}", explanation.counters->text));
}

void write_answer(const AnswerFacts& answer, std::string& out) {
  out += "\nanswer\n";
  line(out, "  " + answer.text);
  if (answer.delay.count() > 0) line(out, fmt::format("  after {} in line", round_text(answer.delay)));
  if (!answer.certain)
    line(out, "  not certain: what is counted now is not known, or not by the numbers of this request");
  for (const auto& [name, value] : answer.fields) line(out, fmt::format("  {}: {}", name, value));
  if (!answer.body.empty()) line(out, "  " + answer.body);
}

}  // namespace

std::string to_text(const Explanation& explanation) {
  const RequestFacts& request = explanation.request;
  std::string out;
  line(out, fmt::format("{} {}", request.method, request.target));
  if (!request.host.empty()) line(out, "host", request.host);
  line(out, "from", request.from + (request.trusted ? ", a trusted proxy" : ""));
  write_route(explanation, out);
  write_caller(explanation, out);
  write_limits(explanation, out);
  write_answer(explanation.answer, out);
  return out;
}

}  // namespace weir::explain
