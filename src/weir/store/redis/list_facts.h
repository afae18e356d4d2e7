// SPDX-License-Identifier: Apache-2.0
//
// What the scripts tell of the lists that two algorithms keep, and what follows from it for a request.
// Thread safety: pure functions.
#pragma once

#include <string_view>

#include "weir/limit/limit.h"
#include "weir/store/redis/slot_head.h"

namespace weir::store {

// Of a log or a set of leases, before the request; instants as in the scripts.
struct ListFacts {
  limit::Cost used = 0;
  Micros last = 0;     // newest entry, or end of the last lease
  Micros entered = 0;  // where a charge is entered in a log
  Micros first_end = 0;
  Micros blocked_until = 0;
  bool known = false;  // the lease is held already
};
// Takes them from the front of `packed`.
ListFacts take_facts(Form form, std::string_view& packed);

// What the limit says to the cost. `granted`: the whole request is admitted, so that the cost has been taken.
// Requires: has_list(form_of(limit)).
void describe(const limit::Limit& limit, const ListFacts& facts, Micros now, limit::Cost cost, bool granted,
              limit::Outcome& outcome);

}  // namespace weir::store
