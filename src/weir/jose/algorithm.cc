// SPDX-License-Identifier: Apache-2.0
#include "weir/jose/algorithm.h"

#include <algorithm>
#include <array>

namespace weir::jose {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(Algorithm::kCount)> kNames{
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA", "HS256", "HS384", "HS512"};

}  // namespace

std::string_view name_of(Algorithm algorithm) { return kNames[static_cast<std::size_t>(algorithm)]; }

std::optional<Algorithm> algorithm_named(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Algorithm>(found - kNames.begin());
}

}  // namespace weir::jose
