// SPDX-License-Identifier: Apache-2.0
//
// The database of a configuration. Pure functions.
#pragma once

#include "weir/config/config.h"
#include "weir/partners/session.h"
#include "weir/sql/connection.h"

namespace weir::partners {

sql::Settings sql_settings(const config::Policies::Sql& sql);

// Opens a new connection each time.
Session::Open opener(sql::Settings settings);

}  // namespace weir::partners
