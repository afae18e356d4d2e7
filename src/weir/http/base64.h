// SPDX-License-Identifier: Apache-2.0
//
// Base64 with the standard alphabet (RFC 4648 section 4), as Byte Sequences of structured fields need it. Pure
// functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weir::http {

// With padding.
std::string encode_base64(std::string_view octets);

// Takes missing padding and pad bits that are not zero (RFC 9651 section 4.2.7). Absent: a byte outside the alphabet,
// '=' before the end, or a length that no octets give.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace weir::http
