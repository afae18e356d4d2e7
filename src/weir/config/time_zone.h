// SPDX-License-Identifier: Apache-2.0
//
// Time zones of the IANA database on this machine. Thread safety: immutable after it was made.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weir/config/type.h"

namespace weir::config {

// The name of a zone that can be loaded, such as Europe/Berlin.
Type<std::string> time_zone();

// The nearest zone of `known`: the same city, or a slip of the pen; "" for none.
std::string near_time_zone(Reader& reader, std::string_view name, const std::vector<std::string>& known);

}  // namespace weir::config
