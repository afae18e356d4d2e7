// SPDX-License-Identifier: Apache-2.0
//
// Rows as JSON objects. The same fields, by the same names, are in YAML files and in the columns of the database.
// What is empty or absent is left out. Reading accepts exactly what writing gives. Pure functions.
#pragma once

#include <expected>
#include <nlohmann/json.hpp>
#include <string>

#include "weir/partners/change.h"
#include "weir/partners/fault.h"
#include "weir/partners/row.h"

namespace weir::partners {

using Json = nlohmann::ordered_json;

Json to_json(const Row& row);
Json to_json(const Change& change);
Json to_json(const Fault& fault);

// Fails with every field that is unknown, missing or not of its type; whether the values make sense is for
// validate.h. `name` names the row in faults where it has no usable name of its own.
std::expected<Row, Faults> row_from_json(RowKind kind, const Json& object, const std::string& name = {});

// One line; texts that are not UTF-8 are repaired.
std::string compact(const Json& json);

}  // namespace weir::partners
