// SPDX-License-Identifier: Apache-2.0
//
// Many records at once, by the names that requests bring. Inside a transaction of the caller. Thread safety: as the
// connection.
#pragma once

#include <span>

#include "weir/partners/refusal.h"
#include "weir/partners/source.h"
#include "weir/sql/connection.h"

namespace weir::partners {

Outcome<Reading> look_up(sql::Connection& connection, std::span<const Subject> subjects);

}  // namespace weir::partners
