// SPDX-License-Identifier: Apache-2.0
//
// Where a request goes, in words; and for one that names no host, which it may mean. Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "weir/explain/explanation.h"
#include "weir/gateway/generation.h"
#include "weir/http/message.h"
#include "weir/route/router.h"

namespace weir::explain {

// Requires: the router has found `route` for the head.
RouteFacts route_facts(const gateway::Generation& generation, const route::Route& route,
                       const http::RequestHead& head);

// The host of the first service to which the path then goes; for one that serves every host, any name. `start`: as
// RequestWords::start.
std::string default_host(const gateway::Generation& generation, std::string_view start);

}  // namespace weir::explain
