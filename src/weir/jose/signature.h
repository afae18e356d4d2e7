// SPDX-License-Identifier: Apache-2.0
//
// Whether a signature is right, by OpenSSL: one table says what each algorithm is. Thread safety: pure functions.
#pragma once

#include <openssl/evp.h>

#include <memory>
#include <string_view>

#include "weir/jose/algorithm.h"

namespace weir::jose {

struct FreePublicKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using PublicKey = std::unique_ptr<EVP_PKEY, FreePublicKey>;

// Requires: an asymmetric algorithm, and a key that it can be used with.
bool is_signed(Algorithm algorithm, EVP_PKEY* key, std::string_view text, std::string_view signature);

// Compares in constant time. Requires: one of the HMAC algorithms.
bool is_authenticated(Algorithm algorithm, std::string_view secret, std::string_view text,
                      std::string_view signature);

// Bytes of the digest that the algorithm uses; 0: it brings its own.
std::size_t digest_size(Algorithm algorithm);

}  // namespace weir::jose
