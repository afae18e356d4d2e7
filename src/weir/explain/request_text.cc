// SPDX-License-Identifier: Apache-2.0
#include "weir/explain/request_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "weir/http/field.h"

namespace weir::explain {
namespace {

constexpr const char* kForm = "a request is 'METHOD TARGET', e.g. 'POST /orders?x=1'";
constexpr std::size_t kPadding = 32;  // the parser may look at bytes behind its input

bool breaks_line(std::string_view text) { return text.find_first_of("\r\n") != std::string_view::npos; }

bool is_field(std::string_view line, std::string_view name) {
  return http::same_name(line.substr(0, std::min(line.find(':'), line.size())), name);
}

// Behind `scheme://`; npos: it has no scheme.
std::size_t authority_at(std::string_view target) {
  const std::size_t scheme = target.find("://");
  if (target.starts_with('/') || scheme == std::string_view::npos) return std::string_view::npos;
  return scheme + 3;
}

}  // namespace

Result<RequestStart> read_start(std::string_view start) {
  if (start.empty() || breaks_line(start)) return invalid(kForm);
  const std::size_t space = start.find(' ');
  if (space == std::string_view::npos) return RequestStart{"GET", std::string(start)};
  const std::string_view target = start.substr(space + 1);
  if (space == 0 || target.empty() || target.find(' ') != std::string_view::npos) {
    return invalid(kForm);
  }
  return RequestStart{std::string(start.substr(0, space)), std::string(target)};
}

std::string path_of(std::string_view target) {
  if (const std::size_t at = authority_at(target); at != std::string_view::npos) {
    const std::size_t slash = target.find_first_of("/?#", at);
    target = slash == std::string_view::npos ? "/" : target.substr(slash);
  }
  const std::string path(target.substr(0, target.find('?')));
  return path.empty() ? "/" : path;
}

std::string authority_of(std::string_view target) {
  const std::size_t at = authority_at(target);
  if (at == std::string_view::npos) return {};
  return std::string(target.substr(at, target.find_first_of("/?#", at) - at));
}

bool names_host(const std::vector<std::string>& fields) {
  return std::ranges::any_of(fields, [](const std::string& line) { return is_field(line, "Host"); });
}

Result<RequestText> RequestText::compose(const RequestWords& words, std::string_view default_host) {
  const auto start = read_start(words.start);
  if (!start) return std::unexpected(start.error());
  RequestText request;
  request.text_ = fmt::format("{} {} HTTP/1.1\r\n", start->method, start->target);
  if (!names_host(words.fields)) request.text_ += fmt::format("Host: {}\r\n", default_host);
  for (const std::string& line : words.fields) {
    if (line.find(':') == std::string::npos || breaks_line(line)) {
      return invalid("a header is 'Name: value', on one line");
    }
    request.text_ += line + "\r\n";
  }
  if (words.body_size) request.text_ += fmt::format("Content-Length: {}\r\n", *words.body_size);
  request.text_ += "\r\n";
  request.size_ = request.text_.size();
  request.text_.append(kPadding, '\0');
  return request;
}

}  // namespace weir::explain
