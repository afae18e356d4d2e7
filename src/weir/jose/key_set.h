// SPDX-License-Identifier: Apache-2.0
//
// The keys of an issuer: a JSON Web Key Set (RFC 7517), one JSON Web Key, or public keys and certificates in PEM.
// Thread safety: immutable.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "weir/base/result.h"
#include "weir/jose/key.h"
#include "weir/jose/token.h"

namespace weir::jose {

class KeySet {
 public:
  static constexpr std::size_t kMostKeys = 256;
  static constexpr int kMostTries = 8;  // keys that one token is checked with

  enum class Origin : std::uint8_t {
    kFile,
    kUrl,  // anybody may read it, so there are no secrets in it
  };
  struct Reading;

  // Fails when there is no key that can be used; the message says why.
  static Result<Reading> read(std::string_view text, Origin origin);

  enum class Mismatch : std::uint8_t {
    kUnknownKey,  // no key has the token's kid
    kAlgorithm,   // the keys that it could be are not for its algorithm
    kSignature,
  };
  // The key that has signed the token. Of a token without kid every key is tried, but not more than kMostTries.
  std::expected<const Key*, Mismatch> signer_of(const Token& token) const;

  bool contains(const Fingerprint& identity) const;
  std::size_t size() const { return keys_.size(); }
  // True when some key may be used with one of these.
  bool has_key_for(Algorithms algorithms) const;

 private:
  static Result<Reading> read_json(std::string_view text, Origin origin);
  static Result<Reading> read_pem(std::string_view text);

  std::vector<Key> keys_;
};

struct KeySet::Reading {
  KeySet keys;
  std::vector<std::string> left_out;  // which keys, and why

  void add(const std::string& name, Result<Key> key);
};

}  // namespace weir::jose
