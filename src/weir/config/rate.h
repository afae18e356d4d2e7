// SPDX-License-Identifier: Apache-2.0
//
// Rates: `20/s`, `100/5s`, `6/h`, `1/week`, `unlimited`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "weir/config/config.h"
#include "weir/config/type.h"

namespace weir::config {

inline constexpr std::int64_t kMostUnits = 1'000'000'000'000;  // of a count, a burst, a cost
inline constexpr nanoseconds kShortestPeriod = std::chrono::milliseconds(1);
inline constexpr nanoseconds kLongestPeriod = std::chrono::days(400);
inline constexpr nanoseconds kLongestRefill = std::chrono::days(3650);  // of an empty bucket
inline constexpr nanoseconds kCalendarPeriod = nanoseconds(-1);         // of a rate per month or year

// The period is kCalendarPeriod for a month or a year, which have no fixed length.
Parsed<Rate> parse_rate(std::string_view text);

// A rate, or absent for `unlimited`. A period of kCalendarPeriod has not been reported yet.
Type<std::optional<Rate>> rate();

// What is wrong with a bucket of these numbers; absent: nothing.
std::optional<std::string> bucket_fault(const Rate& rate, std::int64_t burst);

}  // namespace weir::config
