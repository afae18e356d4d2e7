// SPDX-License-Identifier: Apache-2.0
//
// The version of this build.
#pragma once

#include <string_view>

namespace weir {

inline constexpr std::string_view kVersion = WEIR_VERSION;

}  // namespace weir
