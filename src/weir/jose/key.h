// SPDX-License-Identifier: Apache-2.0
//
// A key that tokens are checked with, compiled once: which algorithms it may be used with follows from the key alone
// (its type, its curve, its `alg`), never from a token. So there is no token without a signature, and no public key
// that is taken for a secret.
// Thread safety: immutable.
#pragma once

#include <jansson.h>

#include <memory>
#include <optional>
#include <string>

#include "weir/base/fingerprint.h"
#include "weir/base/result.h"
#include "weir/jose/algorithm.h"
#include "weir/jose/signature.h"
#include "weir/jose/token.h"

namespace weir::jose {

class Key {
 public:
  // Of a JSON Web Key (RFC 7517). Fails when the key is not one for checking signatures, is too weak (RSA below 2048
  // bits, a secret shorter than every digest), or is broken; the message does not tell the key. A private key gives
  // its public part.
  static Result<Key> from_jwk(const json_t* jwk);
  // Without a kid: it goes with tokens of any kid, because its file has no place for one.
  static Result<Key> from_public_key(PublicKey key);

  bool is_for(const Token& token) const { return any_kid_ || !token.kid || token.kid == kid_; }
  bool is_secret() const { return !public_; }
  // Also false when the token's algorithm is not one of the key's.
  bool has_signed(const Token& token) const;

  const std::optional<std::string>& kid() const { return kid_; }
  const Algorithms& algorithms() const { return algorithms_; }
  // The same for the same key with the same kid and algorithms, in every set.
  const Fingerprint& identity() const { return identity_; }

 private:
  Result<void> take_asymmetric(const json_t* jwk, const std::string& type);
  Result<void> take_secret(const json_t* jwk);
  Result<void> take_public(PublicKey key);
  Result<void> narrow(const json_t* jwk);
  void name_it(std::string material);

  std::optional<std::string> kid_;
  bool any_kid_ = false;
  Algorithms algorithms_;
  std::shared_ptr<EVP_PKEY> public_;  // null: a secret
  std::string secret_;
  Fingerprint identity_;
};

}  // namespace weir::jose
