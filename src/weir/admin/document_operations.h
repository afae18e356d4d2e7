// SPDX-License-Identifier: Apache-2.0
//
// All rows at once over HTTP, what is wrong with them, and who has changed what. Thread safety: the loop's thread.
#pragma once

#include "weir/admin/operations.h"
#include "weir/admin/policy_desk.h"

namespace weir::admin {

// `desk` outlives the operations.
void add_document_operations(Operations& operations, PolicyDesk& desk);

}  // namespace weir::admin
