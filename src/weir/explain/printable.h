// SPDX-License-Identifier: Apache-2.0
//
// Texts of strangers as a terminal may show them. Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace weir::explain {

// With \xNN for each byte of a control character, of one that turns the direction of writing, and of what is no
// UTF-8. Everything else, a backslash too, stays as it is; so doing it twice does nothing more.
std::string printable(std::string_view text);

}  // namespace weir::explain
