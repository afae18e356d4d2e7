// SPDX-License-Identifier: Apache-2.0
//
// Which limit binds. Thread safety: pure functions.
#pragma once

#include <vector>

#include "weir/decide/decision.h"

namespace weir::decide {

// Puts the limit that binds first, the others in configuration order.
void order_outcomes(std::vector<LimitOutcome>& outcomes);

}  // namespace weir::decide
