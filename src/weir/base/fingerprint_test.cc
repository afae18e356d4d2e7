// SPDX-License-Identifier: Apache-2.0
#include "weir/base/fingerprint.h"

#include <gtest/gtest.h>

#include <bit>
#include <memory>
#include <random>
#include <set>
#include <string>

namespace weir {
namespace {

// The key 00 01 02 … 0f.
constexpr FingerprintKey kKey{{0x0706050403020100, 0x0f0e0d0c0b0a0908}};

// SipHash-c-d with 128 bits of output, written down from the paper, byte by byte.
Fingerprint sip_hash(int c, int d, const FingerprintKey& key, std::string_view bytes) {
  std::uint64_t v[4] = {key.words[0] ^ 0x736f6d6570736575, key.words[1] ^ 0x646f72616e646f6d ^ 0xee,
                        key.words[0] ^ 0x6c7967656e657261, key.words[1] ^ 0x7465646279746573};
  const auto half = [&v](int a, int b, int s, int t) {
    v[a] += v[b];
    v[b] = std::rotl(v[b], s) ^ v[a];
    v[a] = std::rotl(v[a], t);
  };
  const auto rounds = [&half](int count) {
    for (; count > 0; --count) {
      half(0, 1, 13, 32);
      half(2, 3, 16, 0);
      half(0, 3, 21, 0);
      half(2, 1, 17, 32);
    }
  };
  std::string padded(bytes);
  padded.append(7 - bytes.size() % 8, '\0');
  padded.push_back(static_cast<char>(bytes.size()));
  for (std::size_t at = 0; at < padded.size(); at += 8) {
    std::uint64_t word = 0;
    for (std::size_t i = 8; i-- > 0;) word = word << 8 | static_cast<unsigned char>(padded[at + i]);
    v[3] ^= word;
    rounds(c);
    v[0] ^= word;
  }
  v[2] ^= 0xee;
  rounds(d);
  const std::uint64_t low = v[0] ^ v[1] ^ v[2] ^ v[3];
  v[1] ^= 0xdd;
  rounds(d);
  return {low, v[0] ^ v[1] ^ v[2] ^ v[3]};
}

Fingerprint of_bytes(const unsigned char (&bytes)[16]) {
  Fingerprint result;
  for (int i = 8; i-- > 0;) {
    result.low = result.low << 8 | bytes[i];
    result.high = result.high << 8 | bytes[8 + i];
  }
  return result;
}

TEST(FingerprintTest, EqualsThePublishedVectorOfTheEmptyString) {
  constexpr unsigned char kOf13[16] = {231, 126, 188, 178, 39, 136, 165, 190, 253, 98, 219, 106, 221, 48, 48, 1};
  EXPECT_EQ(fingerprint(kKey, ""), of_bytes(kOf13));
  // That of SipHash-2-4 shows that the slow implementation is right, too.
  constexpr unsigned char kOf24[16] = {163, 129, 127, 4, 186, 37, 168, 230, 109, 246, 114, 20, 199, 85, 2, 147};
  EXPECT_EQ(sip_hash(2, 4, kKey, ""), of_bytes(kOf24));
}

TEST(FingerprintTest, EqualsTheSlowImplementationForEveryLength) {
  std::mt19937_64 random(1);
  for (std::size_t size = 0; size <= 300; ++size) {
    // Exactly so many bytes, so that a sanitizer sees a load beyond them.
    const auto bytes = std::make_unique<char[]>(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(random());
    const std::string_view text(bytes.get(), size);
    const FingerprintKey key{{random(), random()}};
    EXPECT_EQ(fingerprint(key, text), sip_hash(1, 3, key, text)) << size << " bytes";
  }
}

TEST(FingerprintTest, EveryByteAndEveryBitOfTheKeyMatters) {
  std::set<Fingerprint> seen;
  for (std::size_t size = 1; size <= 24; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      std::string text(size, 'x');
      text[at] = 'y';
      EXPECT_TRUE(seen.insert(fingerprint(kKey, text)).second);
    }
  }
  for (int bit = 0; bit < 128; ++bit) {
    FingerprintKey key = kKey;
    key.words[static_cast<std::size_t>(bit / 64)] ^= std::uint64_t{1} << bit % 64;
    EXPECT_TRUE(seen.insert(fingerprint(key, "subject")).second);
  }
}

TEST(FingerprintTest, RandomKeysDiffer) {
  EXPECT_NE(FingerprintKey::random().words, FingerprintKey::random().words);
  EXPECT_NE(fingerprint(FingerprintKey::random(), "a"), fingerprint(FingerprintKey::random(), "a"));
}

}  // namespace
}  // namespace weir
