// SPDX-License-Identifier: Apache-2.0
//
// Tokens: taken apart without harm, the same way twice, and never signed by keys of any kind. The input is the whole
// compact form; where it has no dots its bytes are taken for the header and the payload, so that the JSON is reached
// without base64 by chance.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "weir/jose/key_set.h"
#include "weir/jose/testing/signer.h"
#include "weir/jose/token.h"

namespace {

using weir::jose::KeySet;

void require(bool holds) {
  if (!holds) std::abort();
}

const KeySet& keys() {
  using weir::jose::testing::Signer;
  static const KeySet kKeys = [] {
    const std::string jwks = R"({"keys":[)" + Signer::ec().jwk() + "," + Signer::ed25519().jwk() + "," +
                             Signer::rsa().jwk() + "," + Signer::secret(64).jwk() + "]}";
    return KeySet::read(jwks, KeySet::Origin::kFile).value().keys;
  }();
  return kKeys;
}

void check(std::string_view text) {
  const auto token = weir::jose::parse_token(text);
  const auto again = weir::jose::parse_token(text);
  require(token.has_value() == again.has_value());
  if (!token) return;
  require(token->algorithm == again->algorithm && token->signature == again->signature);
  require(text.starts_with(token->signed_part) && text[token->signed_part.size()] == '.');
  require(!keys().signer_of(*token));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using weir::jose::testing::base64url;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  check(input);
  check(base64url(input) + "." + base64url("{}") + ".QQ");
  check(base64url(R"({"alg":"ES256"})") + "." + base64url(input) + ".QQ");
  (void)KeySet::read(input, KeySet::Origin::kFile);
  return 0;
}
