// SPDX-License-Identifier: Apache-2.0
#include "weir/jose/key_set.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>

namespace weir::jose {
namespace {

// One block of a PEM file, freed with it.
struct Block {
  char* name = nullptr;
  char* header = nullptr;
  unsigned char* data = nullptr;
  long size = 0;

  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() {
    OPENSSL_free(name);
    OPENSSL_free(header);
    OPENSSL_free(data);
  }
};

Result<Key> read_block(const Block& block) {
  const std::string_view name = block.name;
  const unsigned char* data = block.data;
  PublicKey key;
  if (name == "PUBLIC KEY") {
    key.reset(d2i_PUBKEY(nullptr, &data, block.size));
  } else if (name == "CERTIFICATE") {
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(d2i_X509(nullptr, &data, block.size), X509_free);
    if (certificate) key.reset(X509_get_pubkey(certificate.get()));
  } else {
    return invalid(fmt::format("a {} is neither PUBLIC KEY nor CERTIFICATE", name));
  }
  if (!key) return invalid(fmt::format("the {} cannot be read", name));
  return Key::from_public_key(std::move(key));
}

std::string name_of(const json_t* jwk, std::size_t index) {
  const auto kid = text_member(jwk, "kid");
  if (!kid || kid->size() > 64 || !std::ranges::all_of(*kid, [](char c) { return c >= 0x20 && c < 0x7f; })) {
    return fmt::format("key {}", index + 1);
  }
  return fmt::format("key '{}'", *kid);
}

Result<Key> read_key(const json_t* jwk, KeySet::Origin origin) {
  if (origin == KeySet::Origin::kUrl && text_member(jwk, "kty") == "oct") {
    return invalid("a secret (kty oct) is taken only from a file");
  }
  return Key::from_jwk(jwk);
}

}  // namespace

void KeySet::Reading::add(const std::string& name, Result<Key> key) {
  if (key) {
    keys.keys_.push_back(*std::move(key));
  } else {
    left_out.push_back(name + ": " + key.error().message);
  }
}

Result<KeySet::Reading> KeySet::read(std::string_view text, Origin origin) {
  auto reading = text.contains("-----BEGIN ") && origin == Origin::kFile ? read_pem(text) : read_json(text, origin);
  if (!reading || reading->keys.size() > 0) return reading;
  if (reading->left_out.empty()) return invalid("there is no key in it");
  return invalid(fmt::format("no key in it can be used ({})", fmt::join(reading->left_out, "; ")));
}

Result<KeySet::Reading> KeySet::read_json(std::string_view text, Origin origin) {
  const Json json = read_object(text);
  if (!json) return invalid("it is not one JSON object without members that are there twice");
  const json_t* list = json_object_get(json.get(), "keys");
  Reading reading;
  if (list == nullptr && json_object_get(json.get(), "kty") != nullptr) {
    reading.add(name_of(json.get(), 0), read_key(json.get(), origin));
    return reading;
  }
  const bool is_list = json_is_array(list);
  if (!is_list) return invalid("it has no list `keys`");
  if (json_array_size(list) > kMostKeys) return invalid(fmt::format("it has more than {} keys", kMostKeys));
  for (std::size_t i = 0; i < json_array_size(list); ++i) {
    const json_t* jwk = json_array_get(list, i);
    reading.add(name_of(jwk, i), read_key(jwk, origin));
  }
  return reading;
}

Result<KeySet::Reading> KeySet::read_pem(std::string_view text) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> file(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())),
                                                       BIO_free);
  Reading reading;
  for (std::size_t i = 0; i < kMostKeys; ++i) {
    Block block;
    if (PEM_read_bio(file.get(), &block.name, &block.header, &block.data, &block.size) != 1) break;
    reading.add(fmt::format("key {}", i + 1), read_block(block));
  }
  const bool broken = ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (broken && reading.keys.size() + reading.left_out.size() < kMostKeys) return invalid("it is not PEM to its end");
  return reading;
}

std::expected<const Key*, KeySet::Mismatch> KeySet::signer_of(const Token& token) const {
  Mismatch mismatch = token.kid ? Mismatch::kUnknownKey : Mismatch::kAlgorithm;
  int tries = 0;
  for (const Key& key : keys_) {
    if (!key.is_for(token)) continue;
    if (mismatch == Mismatch::kUnknownKey) mismatch = Mismatch::kAlgorithm;
    if (!key.algorithms().contains(token.algorithm)) continue;
    if (++tries > kMostTries) break;
    mismatch = Mismatch::kSignature;
    if (key.has_signed(token)) return &key;
  }
  return std::unexpected(mismatch);
}

bool KeySet::has_key_for(Algorithms algorithms) const {
  return std::ranges::any_of(keys_, [&](const Key& key) { return key.algorithms().meets(algorithms); });
}

bool KeySet::contains(const Fingerprint& identity) const {
  return std::ranges::find(keys_, identity, &Key::identity) != keys_.end();
}

}  // namespace weir::jose
