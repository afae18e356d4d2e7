// SPDX-License-Identifier: Apache-2.0
#include "weir/jose/signature.h"

#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/hmac.h>
#include <openssl/rsa.h>

#include <array>
#include <string>

namespace weir::jose {
namespace {

enum class Scheme : std::uint8_t { kPkcs1, kPss, kEcdsa, kEdDsa, kHmac };

struct Facts {
  Scheme scheme;
  const EVP_MD* (*digest)();
  std::size_t ecdsa_number;  // bytes of r and of s, RFC 7518 section 3.4
};

const EVP_MD* no_digest() { return nullptr; }

constexpr std::array<Facts, static_cast<std::size_t>(Algorithm::kCount)> kFacts{{
    {Scheme::kPkcs1, EVP_sha256, 0},
    {Scheme::kPkcs1, EVP_sha384, 0},
    {Scheme::kPkcs1, EVP_sha512, 0},
    {Scheme::kPss, EVP_sha256, 0},
    {Scheme::kPss, EVP_sha384, 0},
    {Scheme::kPss, EVP_sha512, 0},
    {Scheme::kEcdsa, EVP_sha256, 32},
    {Scheme::kEcdsa, EVP_sha384, 48},
    {Scheme::kEdDsa, no_digest, 0},
    {Scheme::kHmac, EVP_sha256, 0},
    {Scheme::kHmac, EVP_sha384, 0},
    {Scheme::kHmac, EVP_sha512, 0},
}};

const Facts& facts_of(Algorithm algorithm) { return kFacts[static_cast<std::size_t>(algorithm)]; }

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

// r and s side by side, as OpenSSL wants them: in DER. Empty: not of the exact length.
std::string der_of(std::string_view signature, std::size_t number) {
  if (signature.size() != 2 * number) return {};
  const std::unique_ptr<ECDSA_SIG, decltype(&ECDSA_SIG_free)> pair(ECDSA_SIG_new(), ECDSA_SIG_free);
  BIGNUM* r = BN_bin2bn(bytes_of(signature), static_cast<int>(number), nullptr);
  BIGNUM* s = BN_bin2bn(bytes_of(signature) + number, static_cast<int>(number), nullptr);
  if (!pair || ECDSA_SIG_set0(pair.get(), r, s) != 1) {
    BN_free(r);
    BN_free(s);
    return {};
  }
  const int size = i2d_ECDSA_SIG(pair.get(), nullptr);
  std::string der(static_cast<std::size_t>(std::max(size, 0)), '\0');
  auto* end = reinterpret_cast<unsigned char*>(der.data());
  i2d_ECDSA_SIG(pair.get(), &end);
  return der;
}

// Salt as long as the digest, MGF1 with the same digest: RFC 7518 section 3.5.
bool set_pss(EVP_PKEY_CTX* context, const EVP_MD* digest) {
  return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1 &&
         EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1 &&
         EVP_PKEY_CTX_set_rsa_mgf1_md(context, digest) == 1;
}

}  // namespace

bool is_signed(Algorithm algorithm, EVP_PKEY* key, std::string_view text, std::string_view signature) {
  const Facts& facts = facts_of(algorithm);
  std::string der;
  if (facts.scheme == Scheme::kEcdsa) {
    der = der_of(signature, facts.ecdsa_number);
    signature = der;
  }
  if (signature.empty()) return false;
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  EVP_PKEY_CTX* of_key = nullptr;  // belongs to `context`
  const bool good =
      context && EVP_DigestVerifyInit(context.get(), &of_key, facts.digest(), nullptr, key) == 1 &&
      (facts.scheme != Scheme::kPss || set_pss(of_key, facts.digest())) &&
      EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(text), text.size()) == 1;
  if (!good) ERR_clear_error();  // of this thread: TLS would find it there
  return good;
}

bool is_authenticated(Algorithm algorithm, std::string_view secret, std::string_view text,
                      std::string_view signature) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> code{};
  unsigned int size = 0;
  const unsigned char* made = HMAC(facts_of(algorithm).digest(), secret.data(), static_cast<int>(secret.size()),
                                   bytes_of(text), text.size(), code.data(), &size);
  return made != nullptr && signature.size() == size && CRYPTO_memcmp(code.data(), signature.data(), size) == 0;
}

std::size_t digest_size(Algorithm algorithm) {
  const EVP_MD* digest = facts_of(algorithm).digest();
  return digest == nullptr ? 0 : static_cast<std::size_t>(EVP_MD_get_size(digest));
}

}  // namespace weir::jose
