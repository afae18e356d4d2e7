// SPDX-License-Identifier: Apache-2.0
//
// Moments as text: RFC 3339 in UTC, such as 2027-01-31T08:00:00Z, with as many digits after the second as are needed.
// Texts without such digits sort as the moments do. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "weir/base/clock.h"

namespace weir::partners {

std::string time_text(WallTime time);

// Any offset; a date alone is its midnight in UTC. Absent: malformed, or outside the years 1970 to 2261.
std::optional<WallTime> parse_time(std::string_view text);

}  // namespace weir::partners
