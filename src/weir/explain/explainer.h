// SPDX-License-Identifier: Apache-2.0
//
// What the gateway would do with a request, and why: a rehearsal of it, what its counters say, and where everything
// came from. Blocks while policies, keys and counters are looked up; takes nothing.
// Thread safety: one thread.
#pragma once

#include "weir/base/clock.h"
#include "weir/base/result.h"
#include "weir/config/config.h"
#include "weir/explain/counters.h"
#include "weir/explain/explanation.h"
#include "weir/explain/request_text.h"

namespace weir::explain {

// Fails when the words are no request, or the configuration cannot be put in force here.
Result<Explanation> explain(const config::Config& config, const RequestWords& words, const Clock& clock,
                            Counters& counters);

}  // namespace weir::explain
