// SPDX-License-Identifier: Apache-2.0
#include "weir/config/environment.h"

#include <fmt/format.h>

#include <string_view>

namespace weir::config {
namespace {

constexpr std::string_view kNameCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

bool is_name(std::string_view text) {
  return !text.empty() && (text[0] < '0' || text[0] > '9') && text.find_first_not_of(kNameCharacters) == text.npos;
}

}  // namespace

std::expected<std::string, std::string> substitute(const std::string& text, const Environment& environment) {
  std::string result;
  std::size_t at = 0;
  for (std::size_t open = text.find("${"); open != text.npos; open = text.find("${", at)) {
    const bool escaped = open > at && text[open - 1] == '$';
    result.append(text, at, open - at - (escaped ? 1 : 0));
    if (escaped) {
      result += "${";
      at = open + 2;
      continue;
    }
    const std::size_t close = text.find('}', open);
    if (close == text.npos) return std::unexpected("'${' without '}'; write '$${' for a literal '${'");
    const std::string name = text.substr(open + 2, close - open - 2);
    if (!is_name(name)) return std::unexpected(fmt::format("'{}' is not the name of an environment variable", name));
    const auto value = environment(name);
    if (!value) return std::unexpected(fmt::format("the environment variable '{}' is not set", name));
    result += *value;
    at = close + 1;
  }
  return result.append(text, at, text.npos);
}

}  // namespace weir::config
