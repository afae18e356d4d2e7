// SPDX-License-Identifier: Apache-2.0
//
// The algorithms of limits: what the language calls them, and what bounds a request under each.
// Thread safety: constants.
#pragma once

#include <string_view>

#include "weir/config/config.h"
#include "weir/config/type.h"

namespace weir::config {

Type<Algorithm> algorithm();

std::string_view algorithm_word(Algorithm algorithm);
// The key that says how much is admitted at once, for messages: burst, count or max.
std::string_view capacity_word(Algorithm algorithm);

// Whether requests wait in line.
bool has_queue(const Limit& limit);
// Whether `burst` may be written.
bool takes_burst(const Limit& limit);

}  // namespace weir::config
