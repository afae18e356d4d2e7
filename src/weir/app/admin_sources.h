// SPDX-License-Identifier: Apache-2.0
//
// What the admin listener asks the gateway of this process. Thread safety: the functions are called on the admin's
// threads.
#pragma once

#include <atomic>

#include "weir/admin/admin.h"
#include "weir/gateway/gateway.h"

namespace weir::app {

// Both outlive the admin.
admin::Sources admin_sources(gateway::Gateway& gateway, const std::atomic<bool>& draining);

}  // namespace weir::app
