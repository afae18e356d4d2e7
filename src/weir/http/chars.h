// SPDX-License-Identifier: Apache-2.0
//
// The character classes of RFC 9110 section 5.6 as one 256-entry table, shared by the parsers of this folder.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir::http {

// Bits of kCharClass.
inline constexpr std::uint8_t kTokenChar = 1;       // tchar without '_'
inline constexpr std::uint8_t kUnderscore = 2;      // '_', a tchar too, but rejected in request field names
inline constexpr std::uint8_t kDigitChar = 4;       // 0-9
inline constexpr std::uint8_t kHexChar = 8;         // 0-9 a-f A-F
inline constexpr std::uint8_t kValueChar = 16;      // field-vchar, space and tab: what a field value may hold
inline constexpr std::uint8_t kAuthorityChar = 32;  // letters, digits, '-', '.', '_'
inline constexpr std::uint8_t kAnyToken = kTokenChar | kUnderscore;

constexpr std::array<std::uint8_t, 256> make_char_classes() {
  std::array<std::uint8_t, 256> table{};
  for (std::size_t c = 0; c < 256; ++c) {
    const bool digit = c >= '0' && c <= '9';
    const std::size_t folded = c | 0x20U;
    const bool letter = c < 0x80 && folded >= 'a' && folded <= 'z';
    const std::string_view marks = "!#$%&'*+-.^`|~";
    std::uint8_t bits = 0;
    if (digit || letter || (c < 0x80 && marks.find(static_cast<char>(c)) != marks.npos)) bits |= kTokenChar;
    if (c == '_') bits |= kUnderscore;
    if (digit) bits |= kDigitChar;
    if (digit || (letter && folded <= 'f')) bits |= kHexChar;
    if (c == '\t' || (c >= 0x20 && c != 0x7F)) bits |= kValueChar;
    if (digit || letter || c == '-' || c == '.' || c == '_') bits |= kAuthorityChar;
    table[c] = bits;
  }
  return table;
}

inline constexpr std::array<std::uint8_t, 256> kCharClass = make_char_classes();

constexpr bool is_in(char c, std::uint8_t classes) {
  return (kCharClass[static_cast<unsigned char>(c)] & classes) != 0;
}
constexpr bool is_space(char c) { return c == ' ' || c == '\t'; }
constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 0x20) : c; }

// The text without spaces and tabs around it.
constexpr std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace weir::http
