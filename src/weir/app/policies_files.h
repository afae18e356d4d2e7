// SPDX-License-Identifier: Apache-2.0
//
// Files that commands about policies read.
#pragma once

#include <optional>
#include <string>

namespace weir::app {

// The whole text; "-" is standard input. Absent after the reason was said on standard error.
std::optional<std::string> read_document(const std::string& file);

}  // namespace weir::app
