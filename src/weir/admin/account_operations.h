// SPDX-License-Identifier: Apache-2.0
//
// Accounts over HTTP: what is counted in one, giving back, forgetting, and who is refused at the moment. Thread safety: the
// loop's thread.
#pragma once

#include <functional>
#include <vector>

#include "weir/accounts/accounts.h"
#include "weir/accounts/refused_account.h"
#include "weir/admin/operations.h"
#include "weir/base/clock.h"

namespace weir::admin {

// `accounts` outlives the operations.
void add_account_operations(Operations& operations, accounts::Accounts& accounts);

using RefusedSince = std::function<std::vector<accounts::RefusedAccount>(WallTime since)>;

// `clock` outlives the operations.
void add_limited_operation(Operations& operations, RefusedSince refused, const Clock& clock);

}  // namespace weir::admin
