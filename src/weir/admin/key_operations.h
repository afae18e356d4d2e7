// SPDX-License-Identifier: Apache-2.0
//
// New API keys over HTTP. A key that is made here is told once, in the answer, and kept nowhere. Thread safety: the loop's
// thread.
#pragma once

#include "weir/admin/operations.h"
#include "weir/admin/policy_desk.h"

namespace weir::admin {

// `desk` and `clock` outlive the operations.
void add_key_operations(Operations& operations, PolicyDesk& desk, const Clock& clock);

}  // namespace weir::admin
