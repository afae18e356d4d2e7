// SPDX-License-Identifier: Apache-2.0
//
// A transaction of a connection. It is rolled back unless it was committed. Thread safety: as its connection.
#pragma once

#include "weir/sql/connection.h"

namespace weir::sql {

class Transaction {
 public:
  enum class Kind : std::uint8_t {
    kSnapshot,  // reads only, all of one moment
    kWriting,   // SQLite: one at a time, waited for at the beginning
  };

  // Requires: the connection is in no transaction, and outlives this one.
  static Result<Transaction> begin(Connection& connection, Kind kind);

  ~Transaction();
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;

  // After kUnavailable it is not known whether the commit has happened; after other errors it has not.
  Result<void> commit();

 private:
  explicit Transaction(Connection& connection) : connection_(&connection) {}

  Connection* connection_;  // null: over
};

}  // namespace weir::sql
