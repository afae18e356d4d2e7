// SPDX-License-Identifier: Apache-2.0
//
// What reader and writer of structured fields share: characters, limits, and UTF-8 for Display Strings. Pure
// functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "weir/http/chars.h"

namespace weir::http::sf {

inline constexpr std::int64_t kMaxInteger = 999'999'999'999'999;  // 15 digits, also of a Decimal's thousandths

constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_alpha(char c) { return is_lower(lower(c)); }
constexpr bool is_digit(char c) { return is_in(c, kDigitChar); }
constexpr bool is_printable(char c) { return c >= 0x20 && c <= 0x7E; }

constexpr bool starts_key(char c) { return is_lower(c) || c == '*'; }
constexpr bool continues_key(char c) { return starts_key(c) || is_digit(c) || c == '_' || c == '-' || c == '.'; }
constexpr bool starts_token(char c) { return is_alpha(c) || c == '*'; }
constexpr bool continues_token(char c) { return is_in(c, kAnyToken) || c == ':' || c == '/'; }

// The size of the UTF-8 sequence at the start of `text` (RFC 3629: shortest form, no surrogates, up to U+10FFFF), or
// 0.
std::size_t utf8_sequence(std::string_view text);
bool is_utf8(std::string_view text);

}  // namespace weir::http::sf
