// SPDX-License-Identifier: Apache-2.0
//
// The algorithms by which tokens are signed (RFC 7518 section 3, RFC 8037 section 3.1). "none" is not among them.
// Thread safety: plain values.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace weir::jose {

enum class Algorithm : std::uint8_t {
  kRs256,
  kRs384,
  kRs512,
  kPs256,
  kPs384,
  kPs512,
  kEs256,
  kEs384,
  kEdDsa,  // Ed25519 or Ed448, as the key is
  kHs256,
  kHs384,
  kHs512,
  kCount,
};

std::string_view name_of(Algorithm algorithm);
std::optional<Algorithm> algorithm_named(std::string_view name);

// A set of them.
class Algorithms {
 public:
  constexpr Algorithms() = default;
  constexpr Algorithms(std::initializer_list<Algorithm> members) {
    for (const Algorithm member : members) add(member);
  }
  static constexpr Algorithms all() {
    Algorithms all;
    for (int i = 0; i < static_cast<int>(Algorithm::kCount); ++i) all.add(static_cast<Algorithm>(i));
    return all;
  }

  constexpr void add(Algorithm member) { bits_ = static_cast<std::uint16_t>(bits_ | bit(member)); }
  constexpr bool contains(Algorithm member) const { return (bits_ & bit(member)) != 0; }
  constexpr bool meets(Algorithms other) const { return (bits_ & other.bits_) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  bool operator==(const Algorithms&) const = default;

 private:
  static constexpr unsigned bit(Algorithm member) { return 1U << static_cast<unsigned>(member); }

  std::uint16_t bits_ = 0;
};

}  // namespace weir::jose
