// SPDX-License-Identifier: Apache-2.0
//
// Keyed 128-bit fingerprints of byte strings: SipHash-1-3 with 128 bits of output (Aumasson, Bernstein:
// "SipHash: a fast short-input PRF", 2012). Whoever does not know the key cannot make two strings collide, so a
// fingerprint can stand for the string itself.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string_view>

namespace weir {

struct Fingerprint {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  auto operator<=>(const Fingerprint&) const = default;
};

struct FingerprintKey {
  std::array<std::uint64_t, 2> words{};

  // A key from the operating system's random source.
  static FingerprintKey random();
};

// SipHash-1-3-128 of `bytes`. Thread safe, no allocation.
Fingerprint fingerprint(const FingerprintKey& key, std::string_view bytes);

}  // namespace weir
