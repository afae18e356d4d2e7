// SPDX-License-Identifier: Apache-2.0
//
// Percent-encoding (RFC 3986 section 2.1). Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace weir {

// Everything is escaped but the unreserved characters (section 2.3), so that the text is one segment of a path, or
// one value in a query.
std::string percent_encoded(std::string_view text);

}  // namespace weir
