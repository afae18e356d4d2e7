// SPDX-License-Identifier: Apache-2.0
#include "weir/sql/transaction.h"

#include <utility>

namespace weir::sql {
namespace {

std::string beginning(Dialect dialect, Transaction::Kind kind) {
  const bool writing = kind == Transaction::Kind::kWriting;
  if (dialect == Dialect::kSqlite) return writing ? "BEGIN IMMEDIATE" : "BEGIN";
  return writing ? "START TRANSACTION READ WRITE" : "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY";
}

}  // namespace

Result<Transaction> Transaction::begin(Connection& connection, Kind kind) {
  if (auto begun = connection.execute(beginning(connection.dialect(), kind)); !begun) {
    return std::unexpected(std::move(begun.error()));
  }
  Transaction transaction(connection);
  if (kind == Kind::kSnapshot && connection.dialect() == Dialect::kSqlite) {
    // The snapshot is of the first read.
    if (auto read = connection.query("SELECT 1 FROM sqlite_master LIMIT 1", {}); !read) {
      return std::unexpected(std::move(read.error()));
    }
  }
  return transaction;
}

Transaction::Transaction(Transaction&& other) noexcept : connection_(std::exchange(other.connection_, nullptr)) {}

Transaction::~Transaction() {
  if (connection_ == nullptr || connection_->lost()) return;
  [[maybe_unused]] const auto ended = connection_->execute("ROLLBACK");
}

Result<void> Transaction::commit() {
  auto done = connection_->execute("COMMIT");
  if (done || connection_->lost()) connection_ = nullptr;
  return done;
}

}  // namespace weir::sql
