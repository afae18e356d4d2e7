// SPDX-License-Identifier: Apache-2.0
//
// Values in the form of MariaDB's client library: of the parameters of a statement, and of the columns of its rows.
// Only for mariadb.cc. Thread safety: none.
#pragma once

#include <mysql.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "weir/sql/value.h"

namespace weir::sql {

// Views of the values, which outlive it.
class BoundValues {
 public:
  explicit BoundValues(std::span<const Value> values);

  MYSQL_BIND* data() { return binds_.data(); }

 private:
  std::vector<MYSQL_BIND> binds_;
};

// Room for one row. Numbers are read in place, texts when their size is known.
class BoundColumns {
 public:
  explicit BoundColumns(MYSQL_RES* metadata);
  BoundColumns(const BoundColumns&) = delete;
  BoundColumns& operator=(const BoundColumns&) = delete;

  MYSQL_BIND* data() { return binds_.data(); }
  // The row that was fetched last. Absent: the statement tells why.
  std::optional<Row> row(MYSQL_STMT* statement);

 private:
  struct Column {
    std::int64_t number = 0;
    unsigned long size = 0;
    my_bool null = 0;
    bool is_number = false;
    bool is_bytes = false;
  };

  std::optional<Value> value(MYSQL_STMT* statement, unsigned index);

  std::vector<Column> columns_;
  std::vector<MYSQL_BIND> binds_;
};

}  // namespace weir::sql
