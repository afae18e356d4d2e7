// SPDX-License-Identifier: Apache-2.0
//
// The decision that counters would make now: composed as decide/ composes it, from what each limit says alone.
// Thread safety: pure functions.
#pragma once

#include <vector>

#include "weir/decide/decision.h"
#include "weir/explain/counters.h"
#include "weir/policy/policy.h"

namespace weir::explain {

// The accounts of a request with their charges. Views into what is given.
std::vector<AccountQuestion> questions_of(const policy::Charges& charges,
                                          const std::vector<policy::Finding>& findings,
                                          const std::vector<policy::LimitInfo>& limits);

// What all of them say if nothing was counted yet.
std::vector<std::vector<store::Foreseen>> all_fresh(const std::vector<AccountQuestion>& questions, limit::Ticks wall);

// Requires: `told` is parallel to the questions of these charges.
decide::Decision forecast(const policy::Charges& charges, const std::vector<std::vector<store::Foreseen>>& told,
                          limit::Ticks wall);

}  // namespace weir::explain
