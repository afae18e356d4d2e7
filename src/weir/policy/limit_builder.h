// SPDX-License-Identifier: Apache-2.0
//
// From the numbers of the configuration to a limit of the library. Thread safety: pure functions.
#pragma once

#include <optional>

#include "weir/config/config.h"
#include "weir/limit/limit.h"

namespace weir::policy {

// `rate` and `capacity` are the limit's own, or those of an alternative of `by`. Of a concurrency limit, the count of
// the rate is the most requests at the same time, and its period means nothing. Absent: numbers out of the ranges
// that the loader of the configuration checks.
std::optional<limit::Limit> build_limit(const config::Limit& limit, const config::Rate& rate, limit::Cost capacity);

}  // namespace weir::policy
