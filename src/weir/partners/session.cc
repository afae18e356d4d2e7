// SPDX-License-Identifier: Apache-2.0
#include "weir/partners/session.h"

#include <fmt/format.h>

#include <utility>

#include "weir/partners/migrations.h"

namespace weir::partners {
namespace {

Outcome<void> check_schema(sql::Connection& connection) {
  auto version = schema_version(connection);
  if (version && *version < kSchemaVersion && connection.dialect() == sql::Dialect::kSqlite) {
    if (auto done = migrate(connection); !done) return std::unexpected(refusal_of(done.error()));
    version = schema_version(connection);
  }
  if (!version) return std::unexpected(refusal_of(version.error()));
  if (*version == kSchemaVersion) return {};
  if (*version > kSchemaVersion) {
    return refuse(Refusal::Kind::kUnusable,
                  fmt::format("the database has schema {}, and this program knows {} at most: a newer weir has "
                              "migrated it",
                              *version, kSchemaVersion));
  }
  return refuse(
      Refusal::Kind::kUnusable,
      fmt::format("the database has {}, and this program needs schema {}: run `weir policies migrate`",
                  *version == 0 ? "no tables of weir" : fmt::format("schema {}", *version), kSchemaVersion));
}

}  // namespace

Outcome<sql::Connection*> Session::any_connection() {
  if (connection_ && connection_->lost()) close();
  if (!connection_) {
    auto opened = open_();
    if (!opened) return std::unexpected(refusal_of(opened.error()));
    connection_ = *std::move(opened);
    schema_is_known_ = false;
  }
  return connection_.get();
}

Outcome<sql::Connection*> Session::connection() {
  auto open = any_connection();
  if (!open || schema_is_known_) return open;
  if (auto checked = check_schema(**open); !checked) {
    close();
    return std::unexpected(std::move(checked.error()));
  }
  schema_is_known_ = true;
  return open;
}

Refusal refusal_of(const sql::Error& error) {
  const bool passes = error.kind == sql::ErrorKind::kUnavailable || error.kind == sql::ErrorKind::kBusy;
  return {.kind = passes ? Refusal::Kind::kUnavailable : Refusal::Kind::kUnusable, .message = error.message};
}

weir::Error error_of(const Refusal& refusal) {
  const bool passes = refusal.kind == Refusal::Kind::kUnavailable;
  return {passes ? ErrorKind::kUnavailable : ErrorKind::kInvalid, Origin::kStore, refusal.message};
}

}  // namespace weir::partners
