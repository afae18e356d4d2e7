// SPDX-License-Identifier: Apache-2.0
//
// `${NAME}` in texts.
#pragma once

#include <expected>
#include <string>

#include "weir/config/load.h"

namespace weir::config {

// The text with every `${NAME}` replaced by the variable's value and every `$${` by `${`. What comes in is not looked
// at again. Fails with a message when a variable is not set or a `${` is malformed.
std::expected<std::string, std::string> substitute(const std::string& text, const Environment& environment);

}  // namespace weir::config
