// SPDX-License-Identifier: Apache-2.0
//
// How one slot of an account is written in Redis: a head that names the slot and says by which numbers its state was
// written, then the state as doubles (scripts/acquire.lua lists them). A slot can so be read by whoever finds it,
// whatever configuration its writer had. All limits count in microseconds here.
//
// Buckets are kept as the instant at which they are full again, so a state is read together with the store's now;
// in a limit's own words (limit/limit.h) that now is 0.
// Thread safety: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weir/limit/limit.h"

namespace weir::store {

// The algorithms as the scripts number them.
enum class Form : std::uint8_t { kBucket = 1, kFractions, kFixed, kSliding, kCalendar, kLog, kLeases };

using SlotId = std::uint32_t;
using Micros = std::int64_t;
using StateWords = std::array<std::int64_t, limit::Limit::kMaxStateWords>;

constexpr Micros kMicrosPerSecond = 1'000'000;

// Whether the state is a list of its own beside the account.
constexpr bool has_list(Form form) { return form >= Form::kLog; }

Form form_of(const limit::Limit& limit);
// The same limit in microseconds. Requires: its times are whole microseconds.
limit::Limit in_microseconds(const limit::Limit& limit);
// Ticks of the limit in a microsecond. Requires: at least one.
std::int64_t ticks_per_micro(const limit::Limit& limit);
// From a write until an account may be forgotten, in seconds.
std::int64_t life_seconds(const limit::Limit& limit);

// The same in two bytes, rounded up; a longer one has a larger code. A mantissa of 11 bits, shifted by what is above.
using LifeCode = std::uint16_t;
LifeCode life_code(std::int64_t seconds);
std::int64_t seconds_of(LifeCode code);

// `phase`: limit::Call::phase of the subject.
void append_head(SlotId id, const limit::Limit& limit, std::uint64_t phase, std::string& out);

// The limit by which a slot was written; a calendar is not known, so that of a day in UTC stands for it. Absent:
// nothing that this version can read.
std::optional<limit::Limit> read_head(std::string_view head);

StateWords read_state(const limit::Limit& limit, std::string_view state, Micros now);
void append_state(const limit::Limit& limit, const StateWords& words, Micros now, std::string& out);

// A duration as whole microseconds and 1/N of one.
struct Pair {
  std::int64_t whole = 0;
  std::int64_t rest = 0;
};
// What `units` take to come in by this bucket.
Pair refill_time(const limit::TokenBucket::Numbers& numbers, limit::Cost units);
// The bucket behind a limit of these two forms.
limit::TokenBucket::Numbers bucket_numbers(const limit::Limit& limit);

// Where the subject's windows begin, as the way from the clock to the window's own time.
Micros shift_of(const limit::Alignment& alignment, std::uint64_t phase);

void append_double(double value, std::string& out);
double read_double(std::string_view bytes, std::size_t at);

}  // namespace weir::store
