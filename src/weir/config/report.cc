// SPDX-License-Identifier: Apache-2.0
#include "weir/config/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace weir::config {

namespace {

constexpr std::size_t kLongestMessage = 400;  // bytes, of a message or a suggestion
constexpr std::size_t kLongestLine = 500;     // bytes of a source line that are repeated

// The first `most` bytes, whole characters only.
std::string_view cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  return text.substr(0, most);
}

// Messages repeat words of the file, which may hold anything; a message is one line.
std::string one_line(std::string_view text) {
  std::string line(cut(text, kLongestMessage));
  for (char& c : line) c = (c >= 0 && c < 0x20) || c == 0x7f ? '?' : c;
  if (line.size() < text.size()) line += "...";
  return line;
}

}  // namespace

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
                        .message = one_line(message),
                        .source_line = {},
                        .suggestion = one_line(suggestion)};
  if (place.line > 0) {
    diagnostic.column = source_.column_in_characters(place);
    const std::string_view line = source_.line(place.line);
    if (std::cmp_less_equal(place.column, kLongestLine)) diagnostic.source_line = cut(line, kLongestLine);
  }
  diagnostics_.push_back(std::move(diagnostic));
}

std::vector<Diagnostic> Report::take() {
  const auto order = [](const Diagnostic& d) { return std::tuple(d.line, d.column); };
  std::ranges::stable_sort(diagnostics_, {}, order);
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
