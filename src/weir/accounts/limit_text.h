// SPDX-License-Identifier: Apache-2.0
//
// Limits and times in a few words, for people. Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>

#include "weir/base/clock.h"
#include "weir/config/config.h"
#include "weir/limit/limit.h"

namespace weir::accounts {

// The word of the configuration.
std::string algorithm_text(config::Algorithm algorithm);
// The same of a limit of which there is no configuration.
std::string algorithm_text(const limit::Limit& limit);

// E.g. "20/s, burst 40". `rate`: as configured; without a configuration no calendar is known either.
std::string numbers_text(const limit::Limit& limit, const std::optional<config::Rate>& rate = std::nullopt);

// E.g. "250ms", "5s", "2h": exactly, as a configuration has it.
std::string exact_text(nanoseconds time);
// E.g. "850ms", "7.5s", "3min20s", "2d4h": for reading.
std::string round_text(nanoseconds time);

}  // namespace weir::accounts
