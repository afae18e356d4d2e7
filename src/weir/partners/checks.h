// SPDX-License-Identifier: Apache-2.0
//
// All rows at once, for the eyes of an operator. Inside a transaction of the caller. Thread safety: as the
// connection.
#pragma once

#include "weir/partners/limit_scope.h"
#include "weir/partners/refusal.h"
#include "weir/sql/connection.h"

namespace weir::partners {

// Everything that is wrong, by itself, with what it names, and (where scopes are given) with the configuration.
Outcome<Faults> check_all(sql::Connection& connection, const Scopes* scopes);

}  // namespace weir::partners
