// SPDX-License-Identifier: Apache-2.0
//
// Why a request is not let in: what is wrong with who it says it is from, and how that is answered.
// Thread safety: plain values; Refusals is immutable.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "weir/config/config.h"

namespace weir::identity {

enum class Fault : std::uint8_t {
  kNone,
  kUnknownKey,
  kNobody,
  kTwice,
  kTooLong,
  kTooManyFailures,  // of this address, so that its credential was not looked at
  kKeysUnavailable,  // the issuer's keys were never fetched: nobody can say whether the token is good
  kTokenMalformed,
  kTokenAlgorithm,
  kTokenCritical,
  kTokenKey,
  kTokenSignature,
  kTokenExpired,
  kTokenEarly,
  kTokenIssuer,
  kTokenAudience,
  kTokenType,
  kKeyNotYet,   // no answer: the key has to be looked up first
  kOwnersAway,  // whose key it is cannot be found out, and somebody has to be identified
  kCount,
};

// For the problem document. The texts live as long as the Identifier, never hold a byte of the credential, and
// `fields` are whole lines for the answer's head.
struct Refusal {
  int status = 0;
  std::string_view code;
  std::string_view detail;
  std::string_view fields;
};

class Refusals {
 public:
  // Which ways there are to say who one is depends on the configuration.
  explicit Refusals(const config::Config& config);

  // kTooManyFailures lacks its Retry-After.
  Refusal of(Fault fault) const;

 private:
  std::array<std::string, static_cast<std::size_t>(Fault::kCount)> fields_;
};

}  // namespace weir::identity
