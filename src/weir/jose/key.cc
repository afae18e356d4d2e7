// SPDX-License-Identifier: Apache-2.0
#include "weir/jose/key.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/sha.h>
#include <openssl/x509.h>

#include <array>
#include <cstring>

#include "weir/jose/library.h"

namespace weir::jose {
namespace {

constexpr int kLeastRsaBits = 2048;
constexpr Algorithms kRsa{Algorithm::kRs256, Algorithm::kRs384, Algorithm::kRs512,
                          Algorithm::kPs256, Algorithm::kPs384, Algorithm::kPs512};
constexpr std::array kHmac{Algorithm::kHs256, Algorithm::kHs384, Algorithm::kHs512};

// RFC 8037 section 2. The library reads RSA and EC only.
PublicKey read_octet_pair(const json_t* jwk) {
  const auto curve = text_member(jwk, "crv");
  const auto x = decode_base64url(text_member(jwk, "x").value_or(""));
  if (!curve || !x || (curve != "Ed25519" && curve != "Ed448")) return nullptr;
  return PublicKey(EVP_PKEY_new_raw_public_key(curve == "Ed25519" ? EVP_PKEY_ED25519 : EVP_PKEY_ED448, nullptr,
                                               reinterpret_cast<const unsigned char*>(x->data()), x->size()));
}

std::string curve_of(EVP_PKEY* key) {
  std::array<char, 64> name{};
  std::size_t size = 0;
  if (EVP_PKEY_get_group_name(key, name.data(), name.size(), &size) != 1) return {};
  return {name.data(), size};
}

Result<Algorithms> algorithms_of(EVP_PKEY* key) {
  switch (EVP_PKEY_get_base_id(key)) {
    case EVP_PKEY_RSA:
      if (const int bits = EVP_PKEY_get_bits(key); bits < kLeastRsaBits) {
        return invalid(fmt::format("an RSA key of {} bits; at least {} are needed", bits, kLeastRsaBits));
      }
      return kRsa;
    case EVP_PKEY_EC:
      if (const std::string curve = curve_of(key); curve == "prime256v1") {
        return Algorithms{Algorithm::kEs256};
      } else if (curve == "secp384r1") {
        return Algorithms{Algorithm::kEs384};
      }
      return invalid("an elliptic curve other than P-256 and P-384");
    case EVP_PKEY_ED25519:
    case EVP_PKEY_ED448:
      return Algorithms{Algorithm::kEdDsa};
    default:
      return invalid("a kind of key that signs no tokens");
  }
}

std::string der_of(EVP_PKEY* key) {
  unsigned char* bytes = nullptr;
  const int size = i2d_PUBKEY(key, &bytes);
  if (size <= 0) return {};
  std::string der(reinterpret_cast<char*>(bytes), static_cast<std::size_t>(size));
  OPENSSL_free(bytes);
  return der;
}

}  // namespace

Result<Key> Key::from_jwk(const json_t* jwk) {
  const auto type = text_member(jwk, "kty");
  if (!type) return invalid("no `kty`");
  if (!jose_jwk_prm(nullptr, jwk, false, "verify"))
    return invalid("`use` or `key_ops` say that it checks no signatures");
  Key key;
  if (const auto kid = text_member(jwk, "kid")) {
    key.kid_ = *kid;
  } else if (json_object_get(jwk, "kid") != nullptr) {
    return invalid("`kid` is no text");
  }
  auto taken = type == "oct" ? key.take_secret(jwk) : key.take_asymmetric(jwk, std::string(*type));
  if (taken) taken = key.narrow(jwk);
  if (!taken) return std::unexpected(taken.error());
  key.name_it(key.is_secret() ? key.secret_ : der_of(key.public_.get()));
  return key;
}

Result<Key> Key::from_public_key(PublicKey public_key) {
  Key key;
  key.any_kid_ = true;
  if (const auto taken = key.take_public(std::move(public_key)); !taken) return std::unexpected(taken.error());
  key.name_it(der_of(key.public_.get()));
  return key;
}

Result<void> Key::take_asymmetric(const json_t* jwk, const std::string& type) {
  if (type != "RSA" && type != "EC" && type != "OKP")
    return invalid(fmt::format("the `kty` '{}' is not known", type));
  PublicKey key(type == "OKP" ? read_octet_pair(jwk).release() : jose_openssl_jwk_to_EVP_PKEY(nullptr, jwk));
  ERR_clear_error();
  if (!key) return invalid(fmt::format("its {} numbers are missing, of a curve that is not known, or wrong", type));
  return take_public(std::move(key));
}

Result<void> Key::take_public(PublicKey key) {
  const auto algorithms = algorithms_of(key.get());
  if (!algorithms) return std::unexpected(algorithms.error());
  algorithms_ = *algorithms;
  public_ = std::shared_ptr<EVP_PKEY>(std::move(key));
  return {};
}

// A secret goes with the digests that are not longer than it: RFC 7518 section 3.2.
Result<void> Key::take_secret(const json_t* jwk) {
  auto secret = decode_base64url(text_member(jwk, "k").value_or(""));
  if (!secret) return invalid("its secret is not in base64url");
  for (const Algorithm algorithm : kHmac) {
    if (secret->size() >= digest_size(algorithm)) algorithms_.add(algorithm);
  }
  if (algorithms_.empty()) {
    return invalid(
        fmt::format("a secret of {} bytes; at least {} are needed", secret->size(), digest_size(Algorithm::kHs256)));
  }
  secret_ = *std::move(secret);
  return {};
}

// `alg`: with this algorithm only.
Result<void> Key::narrow(const json_t* jwk) {
  if (json_object_get(jwk, "alg") == nullptr) return {};
  const std::string_view name = text_member(jwk, "alg").value_or("");
  const auto only = algorithm_named(name);
  if (!only) return invalid("its `alg` is not one by which tokens are signed");
  if (!algorithms_.contains(*only)) return invalid(fmt::format("its `alg` {} does not go with the key", name));
  algorithms_ = Algorithms{*only};
  return {};
}

void Key::name_it(std::string material) {
  for (int i = 0; i < static_cast<int>(Algorithm::kCount); ++i) {
    material.push_back(algorithms_.contains(static_cast<Algorithm>(i)) ? '1' : '0');
  }
  material += kid_.value_or("");
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(material.data()), material.size(), digest.data());
  std::memcpy(&identity_.low, digest.data(), sizeof identity_.low);
  std::memcpy(&identity_.high, digest.data() + sizeof identity_.low, sizeof identity_.high);
}

bool Key::has_signed(const Token& token) const {
  if (!algorithms_.contains(token.algorithm)) return false;
  if (is_secret()) return is_authenticated(token.algorithm, secret_, token.signed_part, token.signature);
  return is_signed(token.algorithm, public_.get(), token.signed_part, token.signature);
}

}  // namespace weir::jose
