// SPDX-License-Identifier: Apache-2.0
//
// The system's resolver. Blocks, so it is never called on an event loop's thread.
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weir/base/result.h"
#include "weir/io/socket_address.h"

namespace weir::io {

// All addresses of a host name for stream connections, in the system's order of preference.
Result<std::vector<SocketAddress>> look_up(const std::string& host, std::uint16_t port);

}  // namespace weir::io
