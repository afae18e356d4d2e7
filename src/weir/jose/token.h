// SPDX-License-Identifier: Apache-2.0
//
// A signed token in its compact form (RFC 7515 section 3.1, RFC 7519), taken apart: strictly, and believing nothing.
// What its header says of where keys could be had (jku, jwk, x5u, x5c) is not looked at. Thread safety: pure.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "weir/jose/algorithm.h"
#include "weir/jose/json.h"

namespace weir::jose {

struct Token {
  static constexpr std::size_t kLongest = 16384;

  Algorithm algorithm{};
  std::optional<std::string> kid;
  std::optional<std::string> type;  // `typ`
  Json claims;                      // an object; not to be believed before the signature was found right
  std::string_view signed_part;     // of the text
  std::string signature;
};

enum class TokenFault : std::uint8_t {
  kMalformed,  // not three parts of base64url, JSON that is not strict, a member of the wrong type, too long
  kAlgorithm,  // "none", or one that is not known
  kCritical,   // the header names extensions that must be understood, or an unencoded payload (RFC 7797)
};

// The token refers to `text`.
std::expected<Token, TokenFault> parse_token(std::string_view text);

}  // namespace weir::jose
