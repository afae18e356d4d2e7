// SPDX-License-Identifier: Apache-2.0
#include "weir/config/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <tuple>
#include <utility>

namespace weir::config {

namespace {

constexpr std::size_t kLongestMessage = 400;  // bytes, of a message or a suggestion
constexpr std::size_t kLongestLine = 500;     // bytes of a source line that are repeated
constexpr std::size_t kLongestSecret = 4096;  // that may begin there

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

// The first `most` bytes, whole characters only.
std::string_view cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && is_continuation(text[most])) --most;
  return text.substr(0, most);
}

// Messages repeat words of the file, which may hold anything; a message is one line.
std::string one_line(std::string_view text) {
  std::string line(cut(text, kLongestMessage));
  for (char& c : line) c = (c >= 0 && c < 0x20) || c == 0x7f ? '?' : c;
  if (line.size() < text.size()) line += "...";
  return line;
}

// Room for a character each, so that the caret stays under its word.
void append_hidden(std::string& out, std::string_view secret) {
  out.append(secret.size() - static_cast<std::size_t>(std::ranges::count_if(secret, is_continuation)), '*');
}

// From `user:` to the last '@'. Passwords with faults must be hidden as well, so this takes rather too much.
void append_without_password(std::string& out, std::string_view text, bool after_scheme) {
  const std::size_t end = text.rfind('@');
  std::size_t colon = text.find(':');
  while (!after_scheme && colon < end && text.substr(colon + 1).starts_with(' ')) colon = text.find(':', colon + 1);
  const bool has_user = colon < end;
  if (end == text.npos || (!has_user && !after_scheme)) {
    out += text;
    return;
  }
  const std::size_t begin = has_user ? colon + 1 : 0;
  out += text.substr(0, begin);
  append_hidden(out, text.substr(begin, end - begin));
  out += text.substr(end);
}

// Lines and words of the file without the passwords of their URLs.
std::string without_passwords(std::string_view text) {
  constexpr std::string_view kScheme = "://";
  std::string shown;
  bool after_scheme = false;
  for (std::size_t scheme = text.find(kScheme); scheme != text.npos; scheme = text.find(kScheme)) {
    append_without_password(shown, text.substr(0, scheme), after_scheme);
    shown += kScheme;
    text.remove_prefix(scheme + kScheme.size());
    after_scheme = true;
  }
  append_without_password(shown, text, after_scheme);
  return shown;
}

bool is_word(std::string_view text, std::size_t at) {
  return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
}

// Where `secret` stands by itself, and not within another word.
std::string without(std::string_view text, std::string_view secret) {
  std::string shown;
  std::size_t from = 0;
  for (std::size_t at = text.find(secret); at != text.npos; at = text.find(secret, at + 1)) {
    const std::size_t end = at + secret.size();
    const bool begins_inside = at > 0 && is_word(text, at - 1) && is_word(text, at);
    const bool ends_inside = is_word(text, end - 1) && is_word(text, end);
    if (at < from || begins_inside || ends_inside) continue;
    shown += text.substr(from, at - from);
    append_hidden(shown, secret);
    from = end;
  }
  return shown.append(text.substr(from));
}

}  // namespace

void Report::hide(std::size_t line, std::string_view text) {
  if (!text.empty()) hidden_.emplace(line, text);
}

std::string Report::without_secrets(std::size_t line, std::string_view text) const {
  std::string shown(text);
  const auto [begin, end] = hidden_.equal_range(line);
  for (auto one = begin; one != end; ++one) shown = without(shown, one->second);
  return shown;
}

void Report::error(const Place& place, std::string_view message, std::string_view suggestion) {
  ++errors_;
  add(Severity::kError, place, message, suggestion);
}

void Report::warning(const Place& place, std::string_view message, std::string_view suggestion) {
  add(Severity::kWarning, place, message, suggestion);
}

void Report::add(Severity severity, const Place& place, std::string_view message, std::string_view suggestion) {
  if (full()) return;
  Diagnostic diagnostic{.severity = severity,
                        .file = source_.file(),
                        .line = place.line,
                        .column = 0,
                        .message = one_line(without_passwords(message)),
                        .source_line = {},
                        .suggestion = one_line(without_passwords(suggestion))};
  if (place.line > 0) {
    diagnostic.column = source_.column_in_characters(place);
    if (std::cmp_less_equal(place.column, kLongestLine)) {
      diagnostic.source_line = without_passwords(cut(source_.line(place.line), kLongestLine + kLongestSecret));
    }
  }
  diagnostics_.push_back(std::move(diagnostic));
}

std::vector<Diagnostic> Report::take() {
  const auto order = [](const Diagnostic& d) { return std::tuple(d.line, d.column); };
  std::ranges::stable_sort(diagnostics_, {}, order);
  for (Diagnostic& one : diagnostics_) {
    one.source_line = cut(without_secrets(one.line, one.source_line), kLongestLine);
  }
  if (full()) {
    diagnostics_.push_back({.severity = errors_ > 0 ? Severity::kError : Severity::kWarning,
                            .file = source_.file(),
                            .line = 0,
                            .column = 0,
                            .message = "too many faults; the rest is not shown",
                            .source_line = {},
                            .suggestion = {}});
  }
  return std::exchange(diagnostics_, {});
}

}  // namespace weir::config
