// SPDX-License-Identifier: Apache-2.0
//
// HTTP dates (RFC 9110 section 5.6.7): IMF-fixdate for what is sent, all three forms for what is received.
// Thread safety: pure functions.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "weir/base/clock.h"

namespace weir::http {

inline constexpr std::size_t kImfDateSize = 29;

// "Sun, 06 Nov 1994 08:49:37 GMT", fractions cut.
std::string imf_date(WallTime at);
// The same at `out`, kImfDateSize bytes.
void write_imf_date(WallTime at, char* out);

// A date in any of the three forms; `now` places two-digit years (more than 50 years ahead means the past century).
std::optional<std::chrono::sys_seconds> parse_date(std::string_view text, WallTime now);

}  // namespace weir::http
