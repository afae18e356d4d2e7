// SPDX-License-Identifier: Apache-2.0
//
// The values that only the keys of a limit have. Thread safety: immutable after they were made.
#pragma once

#include "weir/config/config.h"
#include "weir/config/type.h"

namespace weir::config {

inline constexpr std::int64_t kAbsent = -1;  // a burst that was not written
inline constexpr std::int64_t kMostPlaces =
    1'000'000;  // of a queue or of concurrency: each that is taken costs memory

// What is counted: 0 to kMostUnits.
Type<std::int64_t> units();
// Requests that wait or run: 0 to kMostPlaces.
Type<std::int64_t> places();
// `20`, `{header: X-Cost, default: 1, max: 100}`, or `{response_header: X-Cost, reserve: 1, max: 100}`. A `max` that
// is not written stays 0.
Type<Cost> cost();
// `{zone: Asia/Seoul, anchor_day: 1, week_starts: monday}`
Type<CivilCalendar> civil_calendar();
// `{status: [401, 5xx]}`, of the key `name`.
Type<CountedAnswers> answers(const std::string& name, CountedAnswers::Rule rule);

}  // namespace weir::config
