// SPDX-License-Identifier: Apache-2.0
//
// URLs of databases.
#pragma once

#include <string_view>

#include "weir/config/config.h"
#include "weir/config/type.h"

namespace weir::config {

// `sqlite:path` or `mysql://user:password@name:port/database`; user, password and database are percent-encoded.
// Faults are without the password.
Parsed<SqlUrl> parse_sql_url(std::string_view text);

// Paths are taken from the folder of the configuration file.
Type<SqlUrl> sql_url();

}  // namespace weir::config
