// SPDX-License-Identifier: Apache-2.0
//
// The columns of each table, and rows of the database as JSON. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weir/partners/json.h"
#include "weir/partners/row.h"
#include "weir/sql/value.h"

namespace weir::partners {

struct Column {
  enum class Type : std::uint8_t {
    kText,        // absent: ''
    kNullable,    // a text; absent: NULL
    kNumber,      // absent: 0
    kNullNumber,  // absent: NULL
    kTruth,       // 0 or 1
  };

  std::string_view name;
  Type type = Type::kText;
  bool is_key = false;
};

struct Table {
  std::string_view name;
  std::string_view label;  // the column by which rows are searched
  std::span<const Column> columns;
};

const Table& table_of(RowKind kind);

// In the order of the columns.
std::vector<sql::Value> values_of(const Table& table, const Json& row);
// Of the columns that are keys.
std::vector<sql::Value> key_values(const RowId& id);
Json json_of(const Table& table, const sql::Row& row);

// "`a` = ? AND `b` = ?" of the columns that are keys.
std::string key_condition(const Table& table);
// "`a`, `b`" of all columns, or of the keys.
std::string column_list(const Table& table, bool keys_only = false);
// "?, ?, ?".
std::string places(std::size_t count);

}  // namespace weir::partners
