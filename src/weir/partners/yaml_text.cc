// SPDX-License-Identifier: Apache-2.0
//
// Writing YAML: block style, one field a line. What could be taken for something else is quoted as in JSON, which is
// YAML too.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "weir/partners/document.h"
#include "weir/partners/json.h"
#include "weir/partners/words.h"

namespace weir::partners {
namespace {

// Other things than texts, in some YAML.
constexpr std::array<std::string_view, 9> kWords{"true", "false", "yes", "no", "on", "off", "null", "y", "n"};

// Letters first, then nothing that YAML knows as more than itself.
bool is_plain(const std::string& text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto is_rest = [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
  };
  if (text.empty() || !is_letter(text[0]) || !std::ranges::all_of(text, is_rest)) return false;
  std::string lower = text;
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return std::ranges::find(kWords, lower) == kWords.end();
}

bool is_rate(const std::string& text) {
  const std::size_t slash = text.find('/');
  return slash != text.npos && slash > 0 && text.find_first_not_of("0123456789") == slash &&
         is_plain("x" + text.substr(slash + 1));
}

std::string scalar(const Json& value) {
  if (!value.is_string()) return compact(value);
  auto text = value.get<std::string>();
  if (is_plain(text) || is_rate(text)) return text;
  for (std::size_t at = text.find("${"); at != text.npos; at = text.find("${", at + 3)) text.insert(at, "$");
  return compact(text);
}

bool is_stamp(const std::string& field) {
  return field == "revision" || field == "changed_at" || field == "changed_by";
}

}  // namespace

std::string to_yaml(std::span<const Row> rows) {
  std::string text;
  for (const RowKind kind : {RowKind::kPlan, RowKind::kPartner, RowKind::kKey, RowKind::kLimit}) {
    std::string section;
    for (const Row& row : rows) {
      if (kind_of(row) != kind) continue;
      bool first = true;
      const Json object = to_json(row);
      for (const auto& [field, value] : object.items()) {
        if (is_stamp(field)) continue;
        section += fmt::format("  {} {}: {}\n", std::exchange(first, false) ? "-" : " ", field, scalar(value));
      }
    }
    text += section.empty() ? fmt::format("{}s: []\n", word(kind)) : fmt::format("{}s:\n{}", word(kind), section);
  }
  return text;
}

}  // namespace weir::partners
