// SPDX-License-Identifier: Apache-2.0
#include "weir/http/field.h"

#include <array>
#include <bit>
#include <cstring>

#include "weir/http/chars.h"

namespace weir::http {
namespace {

// In the order of FieldId; kOther has no name.
constexpr std::array<std::string_view, static_cast<std::size_t>(FieldId::kCount)> kNames = {
    "",
    "Authorization",
    "Cache-Control",
    "CF-Connecting-IP",
    "Connection",
    "Content-Length",
    "Content-Type",
    "Cookie",
    "Date",
    "Expect",
    "Forwarded",
    "Host",
    "HTTP2-Settings",
    "Keep-Alive",
    "Proxy-Authorization",
    "Proxy-Connection",
    "RateLimit",
    "RateLimit-Limit",
    "RateLimit-Policy",
    "RateLimit-Remaining",
    "RateLimit-Reset",
    "Retry-After",
    "Server",
    "TE",
    "traceparent",
    "tracestate",
    "Trailer",
    "Transfer-Encoding",
    "True-Client-IP",
    "Upgrade",
    "Via",
    "X-Forwarded-For",
    "X-Forwarded-Host",
    "X-Forwarded-Port",
    "X-Forwarded-Proto",
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "X-Real-IP",
    "X-Request-Id",
};

constexpr std::size_t kMaxKnown = 24;  // three words hold every known name
constexpr std::uint64_t kEach20 = 0x2020202020202020U;

// Little-endian, so that the table made by the compiler fits what is loaded at run time.
template <class Word>
constexpr Word load(const char* at) {
  if consteval {
    Word word = 0;
    for (std::size_t i = 0; i < sizeof(Word); ++i) {
      word |= static_cast<Word>(static_cast<Word>(static_cast<unsigned char>(at[i])) << (8 * i));
    }
    return word;
  } else {
    Word word;
    std::memcpy(&word, at, sizeof word);
    if constexpr (std::endian::native == std::endian::big) {
      word =
          sizeof(Word) == 8 ? static_cast<Word>(__builtin_bswap64(word)) : static_cast<Word>(__builtin_bswap32(word));
    }
    return word;
  }
}

// A name of up to 24 bytes as three words, which overlap unless its length is 8 or 24.
struct Words {
  std::uint64_t first = 0;
  std::uint64_t middle = 0;
  std::uint64_t last = 0;

  constexpr explicit Words(std::string_view name) {
    const char* at = name.data();
    const std::size_t size = name.size();
    if (size >= 8) {
      first = load<std::uint64_t>(at);
      last = load<std::uint64_t>(at + size - 8);
      middle = size > 16 ? load<std::uint64_t>(at + 8) : first;
    } else if (size >= 4) {
      first = load<std::uint32_t>(at) | std::uint64_t{load<std::uint32_t>(at + size - 4)} << 32U;
      last = middle = first;
    } else if (size > 0) {
      first = std::uint64_t{static_cast<unsigned char>(at[0])} |
              std::uint64_t{static_cast<unsigned char>(at[size / 2])} << 8U |
              std::uint64_t{static_cast<unsigned char>(at[size - 1])} << 16U;
      last = middle = first;
    }
  }

  constexpr bool operator==(const Words&) const = default;

  // Letters in lower case. Beyond letters this maps only bytes below 0x20 onto characters of known names
  // (0x0D onto '-', 0x12 onto '2'), so is_printable() has to hold for a match to be a match.
  constexpr void fold() {
    first |= kEach20;
    middle |= kEach20;
    last |= kEach20;
  }
  // No byte is below 0x20; bytes that a short name leaves unused do not count.
  constexpr bool is_printable(std::size_t size) const {
    const std::uint64_t used = size >= 4 ? kEach20 : kEach20 >> 40U;
    return ((first | first >> 1U) & (middle | middle >> 1U) & (last | last >> 1U) & used) == used;
  }
};

constexpr unsigned kSlotBits = 8;  // with fewer, a factor without collisions is hard to find

constexpr std::size_t slot_of(const Words& words, std::size_t size, std::uint64_t factor) {
  const std::uint64_t mixed = words.first ^ std::rotl(words.last, 29) ^ (std::uint64_t{size} << 52U);
  return (mixed * factor) >> (64U - kSlotBits);
}

struct Known {
  Words words{""};
  std::uint8_t size = 0;
  FieldId id = FieldId::kOther;
};

struct KnownNames {
  std::uint64_t factor = 0;
  std::array<Known, std::size_t{1} << kSlotBits> slots{};
};

// Fills the slots with this factor; false when two names want the same one.
consteval bool fill(KnownNames& table, std::uint64_t factor) {
  table = {};
  table.factor = factor;
  for (std::size_t id = 1; id < kNames.size(); ++id) {
    Words words(kNames[id]);
    words.fold();
    Known& slot = table.slots[slot_of(words, kNames[id].size(), factor)];
    if (slot.size != 0 || kNames[id].size() > kMaxKnown) return false;
    slot = {words, static_cast<std::uint8_t>(kNames[id].size()), static_cast<FieldId>(id)};
  }
  return true;
}

consteval KnownNames make_known_names() {
  KnownNames table;
  std::uint64_t factor = 0x9E3779B97F4A7C15U;
  while (!fill(table, factor)) factor = factor * 6364136223846793005U + 1442695040888963407U;
  return table;
}

constexpr KnownNames kKnownNames = make_known_names();

}  // namespace

FieldId field_id(std::string_view name) {
  if (name.size() > kMaxKnown) return FieldId::kOther;
  Words words(name);
  const bool printable = words.is_printable(name.size());
  words.fold();
  const Known& known = kKnownNames.slots[slot_of(words, name.size(), kKnownNames.factor)];
  const bool equal = known.size == name.size() && known.words == words && printable;
  return equal ? known.id : FieldId::kOther;
}

std::string_view field_name(FieldId id) { return kNames[static_cast<std::size_t>(id)]; }

bool same_name(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

}  // namespace weir::http
