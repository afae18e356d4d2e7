// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "weir/config/load.h"
#include "weir/config/source.h"

namespace weir::config {
namespace {

std::string_view name(Severity severity) { return severity == Severity::kError ? "error" : "warning"; }

// East Asian wide characters fill two cells of a terminal (Unicode Standard Annex 11; the large blocks only).
bool is_wide(std::string_view character) {
  if (character.size() < 3) return false;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 4) return byte(0) == 0xf0 && (byte(1) == 0x9f || byte(1) >= 0xa0);
  const unsigned code = (byte(0) & 0x0fu) << 12 | (byte(1) & 0x3fu) << 6 | (byte(2) & 0x3fu);
  return (code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xa4cf) ||
         (code >= 0xac00 && code <= 0xd7a3) || (code >= 0xf900 && code <= 0xfaff) ||
         (code >= 0xff00 && code <= 0xff60);
}

// White space as wide as the characters before the column; tabs stay tabs, whatever their width is.
std::string indent_to(std::string_view line, int column) {
  std::string indent;
  std::size_t at = 0;
  for (int i = 1; i < column && at < line.size(); ++i) {
    const std::size_t length = std::max<std::size_t>(utf8_length(line, at), 1);
    indent += line[at] == '\t' ? "\t" : is_wide(line.substr(at, length)) ? "  " : " ";
    at += length;
  }
  return indent;
}

}  // namespace

std::string to_text(const Diagnostic& diagnostic) {
  std::string text = diagnostic.file;
  if (diagnostic.line > 0) text += fmt::format(":{}:{}", diagnostic.line, diagnostic.column);
  text += fmt::format(": {}: {}\n", name(diagnostic.severity), diagnostic.message);
  if (!diagnostic.source_line.empty()) {
    text += fmt::format("{}\n{}^\n", diagnostic.source_line, indent_to(diagnostic.source_line, diagnostic.column));
  }
  if (!diagnostic.suggestion.empty()) text += diagnostic.suggestion + '\n';
  return text;
}

std::string to_json(const std::vector<Diagnostic>& diagnostics) {
  auto list = nlohmann::ordered_json::array();
  for (const Diagnostic& d : diagnostics) {
    list.push_back({{"severity", name(d.severity)},
                    {"file", d.file},
                    {"line", d.line},
                    {"column", d.column},
                    {"message", d.message},
                    {"source_line", d.source_line},
                    {"suggestion", d.suggestion}});
  }
  return list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace weir::config
