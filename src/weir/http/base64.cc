// SPDX-License-Identifier: Apache-2.0
#include "weir/http/base64.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace weir::http {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNoDigit = 0xFF;

constexpr std::array<std::uint8_t, 256> make_values() {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}

constexpr std::array<std::uint8_t, 256> kValues = make_values();

// The text without its padding; absent when there is padding that does not fill up a group of four.
std::optional<std::string_view> strip_padding(std::string_view text) {
  const bool padded = text.ends_with('=');
  if (padded && text.size() % 4 != 0) return std::nullopt;
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  if (text.size() % 4 == 1) return std::nullopt;
  return text;
}

}  // namespace

std::string encode_base64(std::string_view octets) {
  std::string text;
  text.reserve((octets.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < octets.size(); at += 3) {
    const std::string_view group = octets.substr(at, 3);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i)
      bits = bits << 8U | (i < group.size() ? static_cast<unsigned char>(group[i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i) text += i <= group.size() ? kAlphabet[bits >> (18 - 6 * i) & 63U] : '=';
  }
  return text;
}

std::optional<std::string> decode_base64(std::string_view text) {
  const auto digits = strip_padding(text);
  if (!digits) return std::nullopt;
  std::string octets;
  octets.reserve(digits->size() * 3 / 4);
  std::uint32_t bits = 0;
  int held = 0;  // bits that no octet took yet, at most 6
  for (char c : *digits) {
    const std::uint8_t value = kValues[static_cast<unsigned char>(c)];
    if (value == kNoDigit) return std::nullopt;
    bits = (bits << 6U | value) & 0xFFFFU;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    octets += static_cast<char>(bits >> held & 0xFFU);
  }
  return octets;
}

}  // namespace weir::http
