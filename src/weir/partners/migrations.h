// SPDX-License-Identifier: Apache-2.0
//
// The schema of the database, made in numbered steps. Each may be run again, by several programs at once, without
// harm. Thread safety: as the connection.
#pragma once

#include <cstdint>
#include <string>

#include "weir/sql/connection.h"

namespace weir::partners {

// Of this program.
inline constexpr std::int64_t kSchemaVersion = 2;

// 0: no tables of ours are there.
sql::Result<std::int64_t> schema_version(sql::Connection& connection);

// Brings the schema up to `target` and returns the version that was there before. A newer one is left alone. kBusy:
// somebody else is at it, and takes long.
sql::Result<std::int64_t> migrate(sql::Connection& connection, std::int64_t target = kSchemaVersion);

}  // namespace weir::partners
