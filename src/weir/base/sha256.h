// SPDX-License-Identifier: Apache-2.0
//
// SHA-256 (FIPS 180-4). Thread safe.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace weir {

using Sha256 = std::array<std::uint8_t, 32>;

Sha256 sha256(std::string_view bytes);

}  // namespace weir
