// SPDX-License-Identifier: Apache-2.0
//
// Rates: `20/s`, `100/5s`, `6/h`, `1/week`, `1000/month`, `unlimited`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "weir/config/config.h"
#include "weir/config/type.h"

namespace weir::config {

inline constexpr std::int64_t kMostUnits = 1'000'000'000'000;  // of a count, a burst, a cost
inline constexpr std::int64_t kMostLogged = 10'000;            // of the count of a sliding log, which remembers each
inline constexpr nanoseconds kShortestPeriod = std::chrono::milliseconds(1);
inline constexpr nanoseconds kLongestPeriod = std::chrono::days(400);
inline constexpr nanoseconds kLongestRefill = std::chrono::days(3650);  // of an empty bucket

Parsed<Rate> parse_rate(std::string_view text);

// A rate, or absent for `unlimited`. Whether the algorithm takes its period has not been checked yet.
Type<std::optional<Rate>> rate();

// What is wrong with a bucket of these numbers; absent: nothing. Requires: a period of a fixed length.
std::optional<std::string> bucket_fault(const Rate& rate, std::int64_t burst);
// True when `units` come in at this rate within kLongestRefill. Requires: as above, and a count above 0.
bool refills_in_time(const Rate& rate, std::int64_t units);

}  // namespace weir::config
