// SPDX-License-Identifier: Apache-2.0
#include "weir/admin/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "weir/admin/answers.h"
#include "weir/config/http_types.h"
#include "weir/config/url.h"
#include "weir/identity/sources.h"
#include "weir/partners/validate.h"

namespace weir::admin {
namespace {

using Operation = Operations::Operation;

// The names in the path; absent: it is another path, or cannot be decoded.
std::optional<std::vector<std::string>> match(std::string_view pattern, std::string_view path) {
  std::vector<std::string> names;
  if (std::ranges::count(pattern, '/') != std::ranges::count(path, '/')) return std::nullopt;
  while (!pattern.empty()) {
    const std::string_view wanted = identity::take_until('/', pattern);
    auto segment = decode(identity::take_until('/', path));
    if (!segment) return std::nullopt;
    if (wanted.starts_with('{')) {
      if (segment->empty()) return std::nullopt;
      names.push_back(*std::move(segment));
    } else if (*segment != wanted) {
      return std::nullopt;
    }
  }
  return names;
}

// A parameter that is unknown, malformed or there twice would be a filter that silently does nothing.
std::optional<server::Answer> read_query(std::string_view query, const Operation& operation, Question& question) {
  if (!query.empty()) query.remove_prefix(1);
  while (!query.empty()) {
    std::string_view pair = identity::take_until('&', query);
    if (pair.empty()) continue;
    const auto name = decode(identity::take_until('=', pair));
    std::string text(pair);
    std::ranges::replace(text, '+', ' ');  // as forms write it
    const auto value = decode(text);
    if (!name || !value) return problem(400, "bad-query", "The query cannot be decoded.");
    if (std::ranges::find(operation.parameters, *name) == operation.parameters.end()) {
      return problem(400, "unknown-parameter", fmt::format("There is no parameter '{}' here.", *name));
    }
    if (!question.parameters.emplace(*name, *value).second) {
      return problem(400, "repeated-parameter", fmt::format("The parameter '{}' is there twice.", *name));
    }
  }
  for (const std::string flag : {"dry_run", "prune", "shadow", "incomplete"}) {
    const std::string& value = question.parameter(flag);
    if (value.empty() || value == "true" || value == "false") continue;
    return problem(400, "bad-parameter", fmt::format("The parameter '{}' is true or false.", flag));
  }
  return std::nullopt;
}

// Nested more deeply than any row is: some of what is done with objects is recursive.
bool is_deep(std::string_view json) {
  constexpr int kDeepest = 8;
  int depth = 0;
  bool in_text = false;
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (in_text && c == '\\') {
      ++at;
    } else if (c == '"') {
      in_text = !in_text;
    } else if (!in_text && (c == '[' || c == '{') && ++depth > kDeepest) {
      return true;
    } else if (!in_text && (c == ']' || c == '}')) {
      --depth;
    }
  }
  return false;
}

// RFC 9110 section 8.3.1: without parameters, in lower case.
std::string media_type(const http::RequestHead& head) {
  const http::Field* field = head.find(http::FieldId::kContentType);
  const std::string_view value = field == nullptr ? std::string_view() : head.value(*field);
  return config::lower_case(value.substr(0, value.find_first_of("; \t")));
}

// A body of another type is not read: a page in a browser may send forms and plain text to whom it likes.
std::optional<server::Answer> read_body(const server::Request& request, const Operation& operation,
                                        Question& question) {
  if (operation.body == Operations::Body::kNone) {
    if (request.body_size == 0) return std::nullopt;
    return problem(400, "unexpected-body", "This operation takes no body.");
  }
  const std::string type = media_type(request.head);
  const bool is_json = type == "application/json" || type == "application/merge-patch+json";
  if (operation.body == Operations::Body::kText && (type == "application/yaml" || is_json)) {
    question.text = request.body;
    return std::nullopt;
  }
  if (!is_json) return problem(415, "not-json", "The body has to be application/json.");
  if (request.body_size > Operations::kLargestObject) {
    return problem(413, "body-too-large", "No row has so many bytes.");
  }
  if (is_deep(request.body)) return problem(400, "bad-json", "No row is nested so deeply.");
  question.body = partners::Json::parse(request.body, nullptr, false);
  if (question.body.is_object()) return std::nullopt;
  return problem(400, "bad-json", "The body has to be one JSON object.");
}

// An ETag of a row.
std::optional<std::int64_t> revision_of(std::string_view tag) {
  if (tag.size() < 3 || tag.front() != '"' || tag.back() != '"') return std::nullopt;
  std::int64_t revision = 0;
  const char* const last = tag.data() + tag.size() - 1;
  const auto [end, fault] = std::from_chars(tag.data() + 1, last, revision);
  return fault == std::errc() && end == last && revision > 0 ? std::optional(revision) : std::nullopt;
}

// A condition that is not looked at would do harm. Whoever reads gets the row in any case.
std::optional<server::Answer> read_conditions(const http::RequestHead& head, const Operation& operation,
                                              Question& question) {
  if (operation.method == "GET") return std::nullopt;
  const identity::Single match = identity::find_field(head, identity::FieldName("If-Match"));
  const identity::Single none = identity::find_field(head, identity::FieldName("If-None-Match"));
  if (match.twice || none.twice || (!match.value.empty() && !none.value.empty())) {
    return problem(400, "bad-condition", "One condition is enough.");
  }
  if (match.value.empty() && none.value.empty()) return std::nullopt;
  if (!operation.conditional) return problem(400, "bad-condition", "Nothing here has a revision.");
  if (!none.value.empty() && none.value != "*") return problem(400, "bad-condition", "If-None-Match can be * only.");
  question.expected = match.value.empty() ? 0 : revision_of(match.value);
  if (question.expected) return std::nullopt;
  return problem(400, "bad-condition", "If-Match has to be the ETag of a row.");
}

std::optional<server::Answer> take_apart(const server::Request& request, const Operation& operation,
                                         Question& question) {
  question.by = fmt::format("admin API from {}", request.peer);
  if (const http::Field* author = request.head.find("X-Changed-By")) question.by = request.head.value(*author);
  const std::string wrong = partners::text_fault(question.by, partners::kLongestName);
  if (!wrong.empty()) return problem(400, "bad-author", "X-Changed-By " + wrong + ".");
  if (auto fault = read_query(request.head.query, operation, question)) return fault;
  if (auto fault = read_conditions(request.head, operation, question)) return fault;
  return read_body(request, operation, question);
}

server::Answer not_allowed(const std::string& methods) {
  server::Answer answer = problem(405, "method-not-allowed", fmt::format("Here is only {}.", methods));
  answer.fields.emplace_back("Allow", methods);
  return answer;
}

}  // namespace

const std::string& Question::parameter(const std::string& name) const {
  static const std::string none;
  const auto found = parameters.find(name);
  return found == parameters.end() ? none : found->second;
}

std::optional<std::int64_t> Question::number(const std::string& name, const Numbers& numbers) const {
  const std::string& digits = parameter(name);
  if (digits.empty()) return numbers.usual;
  std::int64_t value = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, fault] = std::from_chars(digits.data(), last, value);
  const bool fits = fault == std::errc() && end == last && value >= numbers.least && value <= numbers.most;
  return fits ? std::optional(value) : std::nullopt;
}

io::Task<server::Answer> Operations::answer(const server::Request& request) const {
  if (!decode(request.head.path)) co_return problem(400, "bad-path", "The path cannot be decoded.");
  std::string methods;
  // HEAD is GET without the body, which the server leaves out.
  const std::string_view method = request.head.method_id == http::Method::kHead ? "GET" : request.head.method;
  for (const Operation& operation : operations_) {
    auto names = match(operation.path, request.head.path);
    if (!names) continue;
    methods += (methods.empty() ? "" : ", ") + operation.method;
    if (operation.method == "GET") methods += ", HEAD";
    if (operation.method != method) continue;
    Question question;
    question.names = *std::move(names);
    auto fault = take_apart(request, operation, question);
    if (fault) co_return *std::move(fault);
    io::Task<server::Answer> answering = operation.answer(question);
    co_return co_await answering;
  }
  if (!methods.empty()) co_return not_allowed(methods);
  co_return problem(
      404, "no-such-path",
      "There is nothing here; GET /v1/openapi.json says what there is. Rows are there only with `policies` "
      "in the configuration.");
}

std::optional<std::string> decode(std::string_view text) {
  auto plain = config::percent_decoded(text);
  if (!plain || plain->find('\0') != std::string::npos) return std::nullopt;
  return *std::move(plain);
}

}  // namespace weir::admin
