// SPDX-License-Identifier: Apache-2.0
#include "weir/partners/digest.h"

#include <openssl/rand.h>

#include <algorithm>
#include <cstdlib>
#include <span>

#include "weir/base/sha256.h"

namespace weir::partners {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kBase64Url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// Keys that can be guessed are worse than none.
template <std::size_t N>
std::array<std::uint8_t, N> random_octets() {
  std::array<std::uint8_t, N> octets{};
  if (RAND_bytes(octets.data(), static_cast<int>(octets.size())) != 1) std::abort();
  return octets;
}

// RFC 4648 section 5, without padding.
std::string base64url(std::span<const std::uint8_t> octets) {
  std::string text;
  unsigned bits = 0, held = 0;
  for (const std::uint8_t octet : octets) {
    bits = bits << 8 | octet;
    for (held += 8; held >= 6; held -= 6) text += kBase64Url[bits >> (held - 6) & 63];
  }
  if (held > 0) text += kBase64Url[bits << (6 - held) & 63];
  return text;
}

std::string hex_of(std::span<const std::uint8_t> octets) {
  std::string text;
  for (const std::uint8_t octet : octets) {
    text += kHexDigits[octet >> 4];
    text += kHexDigits[octet & 15];
  }
  return text;
}

// 16: none.
std::size_t hex_digit(char c) { return std::min<std::size_t>(kHexDigits.find(c), 16); }

}  // namespace

KeyDigest digest_of(std::string_view clear_key) { return sha256(clear_key); }

std::string hex(const KeyDigest& digest) { return hex_of(digest); }

std::optional<KeyDigest> parse_hex(std::string_view text) {
  KeyDigest digest;
  if (text.size() != 2 * digest.size()) return std::nullopt;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const std::size_t high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
    if (high > 15 || low > 15) return std::nullopt;
    digest[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return digest;
}

std::string random_key() { return "weir_" + base64url(random_octets<32>()); }

std::string random_key_id() { return "key_" + base64url(random_octets<9>()); }

std::string random_id() { return hex_of(random_octets<16>()); }

std::string subject_text(const Subject& subject) {
  if (subject.kind != Subject::Kind::kKey) return subject.name;
  KeyDigest digest{};
  std::copy_n(subject.name.begin(), std::min(subject.name.size(), digest.size()), digest.begin());
  return hex(digest);
}

std::optional<Subject> subject_from(Subject::Kind kind, std::string_view text) {
  if (kind != Subject::Kind::kKey) return Subject{kind, std::string(text)};
  const auto digest = parse_hex(text);
  return digest ? std::optional(subject_of(*digest)) : std::nullopt;
}

}  // namespace weir::partners
