// SPDX-License-Identifier: Apache-2.0
#include "weir/base/fingerprint.h"

#include <sys/random.h>

#include <bit>
#include <cstdlib>
#include <cstring>

namespace weir {
namespace {

struct SipState {
  std::uint64_t v0, v1, v2, v3;

  void round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }

  void absorb(std::uint64_t word) {
    v3 ^= word;
    round();
    v0 ^= word;
  }

  std::uint64_t squeeze() {
    round();
    round();
    round();
    return v0 ^ v1 ^ v2 ^ v3;
  }
};

std::uint64_t load_byte(const char* at) { return static_cast<unsigned char>(*at); }

template <class Word>
std::uint64_t load(const char* at) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  if constexpr (std::endian::native == std::endian::big) {
    word = sizeof word == 8 ? static_cast<Word>(__builtin_bswap64(word))
                            : __builtin_bswap32(static_cast<std::uint32_t>(word));
  }
  return word;
}

// The last `left` bytes of the input, 0 to 7 of them, as a little-endian number. Loads may overlap; none has a
// variable size, because that would be a call.
std::uint64_t load_tail(std::string_view bytes, std::size_t left) {
  const char* end = bytes.data() + bytes.size();
  const char* begin = end - left;
  if (left == 0) return 0;
  if (bytes.size() >= 8) return load<std::uint64_t>(end - 8) >> (64 - 8 * left);
  if (left >= 4) return load<std::uint32_t>(begin) | load<std::uint32_t>(end - 4) << (8 * (left - 4));
  return load_byte(begin) | load_byte(begin + left / 2) << (8 * (left / 2)) | load_byte(end - 1) << (8 * (left - 1));
}

}  // namespace

FingerprintKey FingerprintKey::random() {
  FingerprintKey key;
  if (::getrandom(key.words.data(), sizeof key.words, 0) != sizeof key.words) std::abort();
  return key;
}

Fingerprint fingerprint(const FingerprintKey& key, std::string_view bytes) {
  const auto [k0, k1] = key.words;
  SipState sip{k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d ^ 0xee, k0 ^ 0x6c7967656e657261,
               k1 ^ 0x7465646279746573};
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) sip.absorb(load<std::uint64_t>(at));
  sip.absorb(load_tail(bytes, left) | static_cast<std::uint64_t>(bytes.size()) << 56);
  sip.v2 ^= 0xee;
  const std::uint64_t low = sip.squeeze();
  sip.v1 ^= 0xdd;
  return {low, sip.squeeze()};
}

}  // namespace weir
