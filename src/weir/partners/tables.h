// SPDX-License-Identifier: Apache-2.0
//
// The tables of rows in the database: one for each kind, whose columns are the fields of the JSON form. Inside a
// transaction of the caller. Thread safety: as the connection.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "weir/partners/fault.h"
#include "weir/partners/json.h"
#include "weir/partners/row.h"
#include "weir/sql/connection.h"

namespace weir::partners {

// A row as it is stored. Somebody may have edited it by hand, so that it makes no sense.
struct StoredRow {
  Json json;
  std::expected<Row, Faults> row;

  // 0: written by hand.
  std::int64_t revision() const;
};

// What names the row, as far as its columns are texts.
RowId stored_id(RowKind kind, const Json& json);

// Which rows are listed. Empty: all.
struct RowFilter {
  std::string prefix;   // of the name; of keys the id, of limits the limit
  std::string partner;  // of keys and limits: whose
  std::string plan;     // of partners and keys: who has it; of limits: whose
  std::optional<RowId> after;
  std::size_t most = SIZE_MAX;
};

class Tables {
 public:
  // The connection outlives it.
  explicit Tables(sql::Connection& connection) : connection_(connection) {}

  sql::Result<std::optional<StoredRow>> find(const RowId& id);
  // In the order of their names.
  sql::Result<std::vector<StoredRow>> list(RowKind kind, const RowFilter& filter);
  // Those that have one of these texts in the column. `rest`: a further condition.
  sql::Result<std::vector<StoredRow>> among(RowKind kind, const std::string& column,
                                            const std::vector<std::string>& texts, const std::string& rest = {});

  sql::Result<void> insert(const Row& row);
  // Requires: it is there.
  sql::Result<void> update(const Row& row);
  sql::Result<void> erase(const RowId& id);

 private:
  sql::Result<std::vector<StoredRow>> select(RowKind kind, const std::string& rest,
                                             const std::vector<sql::Value>& values);
  sql::Result<void> change(const std::string& statement, const std::vector<sql::Value>& values);

  sql::Connection& connection_;
};

}  // namespace weir::partners
