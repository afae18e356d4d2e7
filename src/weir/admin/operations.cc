// SPDX-License-Identifier: Apache-2.0
#include "weir/admin/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "weir/admin/answers.h"

namespace weir::admin {
namespace {

using Operation = Operations::Operation;

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

std::string_view take_until(std::string_view& text, char end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return taken;
}

// The names in the path; absent: it is another path, or cannot be decoded.
std::optional<std::vector<std::string>> match(std::string_view pattern, std::string_view path) {
  std::vector<std::string> names;
  if (std::ranges::count(pattern, '/') != std::ranges::count(path, '/')) return std::nullopt;
  while (!pattern.empty()) {
    const std::string_view wanted = take_until(pattern, '/');
    auto segment = decode(take_until(path, '/'));
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
    std::string_view pair = take_until(query, '&');
    if (pair.empty()) continue;
    const auto name = decode(take_until(pair, '='));
    const auto value = decode(pair);
    if (!name || !value) return problem(400, "bad-query", "The query cannot be decoded.");
    if (std::ranges::find(operation.parameters, *name) == operation.parameters.end()) {
      return problem(400, "unknown-parameter", fmt::format("There is no parameter '{}' here.", *name));
    }
    if (!question.parameters.emplace(*name, *value).second) {
      return problem(400, "repeated-parameter", fmt::format("The parameter '{}' is there twice.", *name));
    }
  }
  for (const std::string flag : {"dry_run", "prune", "shadow"}) {
    const std::string& value = question.parameter(flag);
    if (value.empty() || value == "true" || value == "false") continue;
    return problem(400, "bad-parameter", fmt::format("The parameter '{}' is true or false.", flag));
  }
  return std::nullopt;
}

// A body of another type is not read: a page in a browser may send forms and plain text to whom it likes.
std::optional<server::Answer> read_body(const server::Request& request, const Operation& operation,
                                        Question& question) {
  question.text = request.body;
  if (operation.body == Operations::Body::kNone) {
    if (request.body_size == 0) return std::nullopt;
    return problem(400, "unexpected-body", "This operation takes no body.");
  }
  const http::Field* field = request.head.find(http::FieldId::kContentType);
  std::string_view type = field == nullptr ? std::string_view() : request.head.value(*field);
  type = type.substr(0, type.find_first_of("; "));
  const bool is_json = type == "application/json" || type == "application/merge-patch+json";
  if (operation.body == Operations::Body::kText && (type == "application/yaml" || is_json)) return std::nullopt;
  if (!is_json) return problem(415, "not-json", "The body has to be application/json.");
  question.body = partners::Json::parse(request.body, nullptr, false);
  if (question.body.is_object()) return std::nullopt;
  return problem(400, "bad-json", "The body has to be one JSON object.");
}

std::optional<server::Answer> read_conditions(const http::RequestHead& head, Question& question) {
  if (const http::Field* none = head.find("If-None-Match")) {
    if (head.value(*none) != "*") return problem(400, "bad-condition", "If-None-Match can be * only.");
    question.expected = 0;
  }
  const http::Field* match = head.find("If-Match");
  if (match == nullptr) return std::nullopt;
  const std::string_view tag = head.value(*match);
  std::int64_t revision = 0;
  const bool quoted = tag.size() > 2 && tag.front() == '"' && tag.back() == '"';
  const auto [end, fault] = std::from_chars(tag.data() + (quoted ? 1 : 0), tag.data() + tag.size(), revision);
  if (!quoted || fault != std::errc() || end != tag.data() + tag.size() - 1 || revision <= 0) {
    return problem(400, "bad-condition", "If-Match has to be the ETag of a row.");
  }
  question.expected = revision;
  return std::nullopt;
}

std::optional<server::Answer> take_apart(const server::Request& request, const Operation& operation,
                                         Question& question) {
  question.by = fmt::format("admin API from {}", request.peer);
  if (const http::Field* author = request.head.find("X-Changed-By")) question.by = request.head.value(*author);
  if (auto fault = read_query(request.head.query, operation, question)) return fault;
  if (auto fault = read_conditions(request.head, question)) return fault;
  return read_body(request, operation, question);
}

server::Answer not_allowed(const std::string& methods) {
  server::Answer answer = problem(405, "method-not-allowed", fmt::format("Here is only {}.", methods));
  answer.fields.emplace_back("Allow", methods);
  return answer;
}

}  // namespace

const std::string& Question::parameter(const std::string& name) const {
  static const std::string kNone;
  const auto found = parameters.find(name);
  return found == parameters.end() ? kNone : found->second;
}

io::Task<server::Answer> Operations::answer(const server::Request& request) const {
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
  co_return problem(404, "no-such-path",
                    "There is nothing here; GET /v1/openapi.json says what there is. Rows are there only with `policies` "
                    "in the configuration.");
}

std::optional<std::string> decode(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      plain += text[at];
      continue;
    }
    if (at + 2 >= text.size()) return std::nullopt;
    const int high = digit(text[at + 1]), low = digit(text[at + 2]);
    if (high < 0 || low < 0 || high + low == 0) return std::nullopt;
    plain += static_cast<char>(high * 16 + low);
    at += 2;
  }
  return plain;
}

std::string encode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
                       c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

}  // namespace weir::admin
