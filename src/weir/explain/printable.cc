// SPDX-License-Identifier: Apache-2.0
#include "weir/explain/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "weir/http/structured_chars.h"

namespace weir::explain {
namespace {

std::uint32_t code_point(std::string_view sequence) {
  const auto byte = [&](std::size_t at) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(sequence[at]));
  };
  if (sequence.size() == 1) return byte(0);
  std::uint32_t point = byte(0) & (0x7FU >> sequence.size());
  for (std::size_t at = 1; at < sequence.size(); ++at) point = point << 6U | (byte(at) & 0x3FU);
  return point;
}

// C0, DEL and C1 (ECMA-48); separators of lines; marks, embeddings, overrides and isolates (UAX #9).
bool commands(std::uint32_t point) {
  const auto in = [point](std::uint32_t first, std::uint32_t last) { return first <= point && point <= last; };
  return point < 0x20 || in(0x7F, 0x9F) || in(0x200E, 0x200F) || in(0x2028, 0x202E) || in(0x2066, 0x2069) ||
         point == 0x61C;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t size = http::sf::utf8_sequence(text);
    const std::string_view taken = text.substr(0, std::max<std::size_t>(size, 1));
    text.remove_prefix(taken.size());
    if (size > 0 && !commands(code_point(taken))) {
      shown += taken;
      continue;
    }
    for (const char c : taken) shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return shown;
}

}  // namespace weir::explain
