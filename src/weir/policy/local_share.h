// SPDX-License-Identifier: Apache-2.0
//
// What one gateway may admit by itself while the store that all share is away (`on_store_failure: local`): its part
// of the limit, so that all together stay within it. Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "weir/limit/limit.h"
#include "weir/store/account.h"

namespace weir::policy {

// A bucket with the limit's rate and capacity divided by the number of gateways, the capacity rounded down but at
// least 1 (so that more gateways than capacity admit more than the limit, by their number); of a concurrency limit,
// so many places. A limit of 0 stays one.
limit::Limit share_of(const limit::Limit& limit, std::uint32_t gateways);

// The same for all limits of a kind of account, which is then another kind.
store::Layout share_of(store::Layout layout, std::uint32_t gateways);

}  // namespace weir::policy
