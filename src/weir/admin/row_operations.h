// SPDX-License-Identifier: Apache-2.0
//
// Plans, partners, keys and limits over HTTP: list, get, put, patch, delete. Thread safety: the loop's thread.
#pragma once

#include "weir/admin/operations.h"
#include "weir/admin/policy_desk.h"

namespace weir::admin {

// `desk` outlives the operations.
void add_row_operations(Operations& operations, PolicyDesk& desk);

}  // namespace weir::admin
