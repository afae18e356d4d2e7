// SPDX-License-Identifier: Apache-2.0
//
// What a request would be told if it came now: computed from what is known of a counter, and nothing is taken.
// Thread safety: pure functions.
#pragma once

#include <string_view>

#include "weir/limit/limit.h"
#include "weir/store/redis/found_account.h"
#include "weir/store/redis/redis_kind.h"
#include "weir/store/redis/slot_head.h"

namespace weir::store {

// In microseconds.
struct Foreseen {
  limit::Outcome seen;   // of a peek
  limit::Outcome asked;  // to the cost
};

// Of a limit in microseconds and its state. `call`: now is 0, wall is the store's clock.
Foreseen foresee(const limit::Limit& limit, const StateWords& words, const limit::Call& call, limit::Cost cost);

// The state of a slot as one of this variant, carried if it was written by other numbers; `slot`: null: it was never
// used. `head`: of the variant for the subject. Requires: not has_list(variant.form).
StateWords state_of(const RedisKind::Variant& variant, std::string_view head, const FoundSlot* slot,
                    const limit::Call& call);

// What was written by other numbers, as a state of `limit`. Requires: both have the same algorithm.
struct Carried {
  StateWords words{};
  limit::Cost used = 0;  // by the numbers that it was written with
};
Carried carried(const limit::Limit& written, std::string_view state, const limit::Limit& limit,
                const limit::Call& call);

// From a peek alone, where the state is not at hand, in the ticks of the limit. Exact is whether the cost is admitted
// and what remains then; times of a sliding window or log may be later than they have to be. `call`: of the peek.
limit::Outcome foresee(const limit::Limit& limit, const limit::Outcome& seen, const limit::Call& call,
                       limit::Cost cost);

}  // namespace weir::store
