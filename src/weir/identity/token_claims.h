// SPDX-License-Identifier: Apache-2.0
//
// What a token says (RFC 7519 section 4.1), against what is expected of it. Thread safety: pure functions.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "weir/base/clock.h"
#include "weir/identity/refusal.h"
#include "weir/jose/token.h"

namespace weir::identity {

struct Expectation {
  std::string issuer;    // empty: not looked at
  std::string audience;  // empty: not looked at
  std::string type;      // empty: absent, JWT or at+jwt
  nanoseconds leeway{};
};

// Until when the token may be taken, leeway included. `exp` has to be there.
std::expected<WallTime, Fault> check_claims(const jose::Token& token, const Expectation& expected, WallTime now);

// `iss`; empty when it is no text.
std::string_view issuer_of(const jose::Token& token);

// The claim with this whole name, or else at this path, as a text: texts, integers, truth values. Empty: absent, or
// something else.
std::string claim_text(const jose::Token& token, std::string_view name);

}  // namespace weir::identity
