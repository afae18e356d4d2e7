// SPDX-License-Identifier: Apache-2.0
//
// For tests: keys that sign tokens, by OpenSSL, and what their public halves look like. Not thread safe.
#pragma once

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "weir/jose/algorithm.h"
#include "weir/jose/json.h"
#include "weir/jose/library.h"
#include "weir/jose/signature.h"

namespace weir::jose::testing {

inline std::string base64url(std::string_view octets) {
  std::string text(octets.size() * 2 + 4, '\0');
  text.resize(jose_b64_enc_buf(octets.data(), octets.size(), text.data(), text.size()));
  return text;
}

class Signer {
 public:
  static Signer rsa(std::size_t bits = 2048) { return Signer(EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", bits)); }
  static Signer ec(const char* curve = "P-256") { return Signer(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", curve)); }
  static Signer ed25519() { return Signer(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")); }
  static Signer ed448() { return Signer(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED448")); }
  static Signer secret(std::size_t size, char fill = 's') {
    Signer one(nullptr);
    one.secret_.assign(size, fill);
    return one;
  }

  // A public JSON Web Key with further members, such as `"kid":"a","alg":"RS256"`.
  std::string jwk(const std::string& members = {}) const {
    std::string text = key_ ? public_members() : R"("kty":"oct","k":")" + base64url(secret_) + "\"";
    return "{" + text + (members.empty() ? "" : "," + members) + "}";
  }

  std::string pem() const {
    const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), BIO_free);
    PEM_write_bio_PUBKEY(out.get(), key_.get());
    char* data = nullptr;
    const long size = BIO_get_mem_data(out.get(), &data);
    return {data, static_cast<std::size_t>(size)};
  }

  std::string signature(Algorithm algorithm, const std::string& text) const {
    return key_ ? asymmetric(algorithm, text) : code(algorithm, secret_, text);
  }

  // Both parts as they are; `header` without `alg` gets it.
  std::string token(Algorithm algorithm, const std::string& payload, const std::string& members = {}) const {
    const std::string header =
        R"({"alg":")" + std::string(name_of(algorithm)) + "\"" + (members.empty() ? "" : "," + members) + "}";
    return sealed(algorithm, header, payload);
  }
  std::string sealed(Algorithm algorithm, const std::string& header, const std::string& payload) const {
    const std::string text = base64url(header) + "." + base64url(payload);
    return text + "." + base64url(signature(algorithm, text));
  }

  static std::string code(Algorithm algorithm, const std::string& secret, const std::string& text) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
    unsigned int size = 0;
    const EVP_MD* digest = digest_of(algorithm);
    HMAC(digest, secret.data(), static_cast<int>(secret.size()), reinterpret_cast<const unsigned char*>(text.data()),
         text.size(), out.data(), &size);
    return {reinterpret_cast<char*>(out.data()), size};
  }

 private:
  explicit Signer(EVP_PKEY* key) : key_(key, EVP_PKEY_free) {}

  static const EVP_MD* digest_of(Algorithm algorithm) {
    const std::string_view name = name_of(algorithm);
    if (name == "EdDSA") return nullptr;
    return name.ends_with("256") ? EVP_sha256() : name.ends_with("384") ? EVP_sha384() : EVP_sha512();
  }

  std::string public_members() const {
    const bool is_edwards =
        EVP_PKEY_get_base_id(key_.get()) == EVP_PKEY_ED25519 || EVP_PKEY_get_base_id(key_.get()) == EVP_PKEY_ED448;
    if (is_edwards) {
      std::array<unsigned char, 64> raw{};
      std::size_t size = raw.size();
      EVP_PKEY_get_raw_public_key(key_.get(), raw.data(), &size);
      const std::string_view curve = EVP_PKEY_get_base_id(key_.get()) == EVP_PKEY_ED25519 ? "Ed25519" : "Ed448";
      return R"("kty":"OKP","crv":")" + std::string(curve) + R"(","x":")" +
             base64url({reinterpret_cast<char*>(raw.data()), size}) + "\"";
    }
    const Json json(jose_openssl_jwk_from_EVP_PKEY(nullptr, key_.get()));
    std::string members;
    for (const char* name : {"kty", "crv", "x", "y", "n", "e"}) {
      const auto value = text_member(json.get(), name);
      if (value)
        members += (members.empty() ? "\"" : ",\"") + std::string(name) + "\":\"" + std::string(*value) + "\"";
    }
    return members;
  }

  std::string asymmetric(Algorithm algorithm, const std::string& text) const {
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
    EVP_PKEY_CTX* of_key = nullptr;
    EVP_DigestSignInit(context.get(), &of_key, digest_of(algorithm), nullptr, key_.get());
    if (name_of(algorithm).starts_with("PS")) {
      EVP_PKEY_CTX_set_rsa_padding(of_key, RSA_PKCS1_PSS_PADDING);
      EVP_PKEY_CTX_set_rsa_pss_saltlen(of_key, RSA_PSS_SALTLEN_DIGEST);
    }
    std::size_t size = 0;
    const auto* data = reinterpret_cast<const unsigned char*>(text.data());
    EVP_DigestSign(context.get(), nullptr, &size, data, text.size());
    std::string out(size, '\0');
    EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(out.data()), &size, data, text.size());
    out.resize(size);
    if (!name_of(algorithm).starts_with("ES")) return out;
    return side_by_side(out, algorithm == Algorithm::kEs256 ? 32 : 48);
  }

  static std::string side_by_side(const std::string& der, int number) {
    const auto* data = reinterpret_cast<const unsigned char*>(der.data());
    const std::unique_ptr<ECDSA_SIG, decltype(&ECDSA_SIG_free)> pair(
        d2i_ECDSA_SIG(nullptr, &data, static_cast<long>(der.size())), ECDSA_SIG_free);
    std::string out(static_cast<std::size_t>(2 * number), '\0');
    auto* bytes = reinterpret_cast<unsigned char*>(out.data());
    BN_bn2binpad(ECDSA_SIG_get0_r(pair.get()), bytes, number);
    BN_bn2binpad(ECDSA_SIG_get0_s(pair.get()), bytes + number, number);
    return out;
  }

  std::shared_ptr<EVP_PKEY> key_;
  std::string secret_;
};

// One for each kind of key, made once: an RSA key takes a while.
inline const Signer& signer_for(Algorithm algorithm) {
  static const Signer kRsa = Signer::rsa();
  static const Signer kEc256 = Signer::ec("P-256");
  static const Signer kEc384 = Signer::ec("P-384");
  static const Signer kEd25519 = Signer::ed25519();
  static const Signer kSecret = Signer::secret(64);
  const std::string_view name = name_of(algorithm);
  if (name == "EdDSA") return kEd25519;
  if (name.starts_with("ES")) return algorithm == Algorithm::kEs256 ? kEc256 : kEc384;
  return name.starts_with("HS") ? kSecret : kRsa;
}

}  // namespace weir::jose::testing
