// SPDX-License-Identifier: Apache-2.0
#include "weir/partners/migrations.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "weir/sql/transaction.h"

namespace weir::partners {
namespace {

using sql::Dialect;

// One statement in both dialects.
struct Statement {
  std::string_view sqlite;
  std::string_view mariadb;
};

// Names are compared by their octets. An index of InnoDB has at most 3072 of them, four for each character.
constexpr std::array kTables{
    Statement{
        "CREATE TABLE IF NOT EXISTS plans (name TEXT NOT NULL PRIMARY KEY, note TEXT NOT NULL DEFAULT '', "
        "revision INTEGER NOT NULL DEFAULT 0, changed_at TEXT, changed_by TEXT NOT NULL DEFAULT '') WITHOUT ROWID",
        "CREATE TABLE IF NOT EXISTS plans (name VARCHAR(256) NOT NULL PRIMARY KEY, "
        "note VARCHAR(2000) NOT NULL DEFAULT '', revision BIGINT NOT NULL DEFAULT 0, changed_at VARCHAR(40), "
        "changed_by VARCHAR(256) NOT NULL DEFAULT '') "
        "ENGINE=InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin"},
    Statement{
        "CREATE TABLE IF NOT EXISTS partners (name TEXT NOT NULL PRIMARY KEY, plan TEXT REFERENCES plans (name), "
        "enabled INTEGER NOT NULL DEFAULT 1, note TEXT NOT NULL DEFAULT '', revision INTEGER NOT NULL DEFAULT 0, "
        "changed_at TEXT, changed_by TEXT NOT NULL DEFAULT '') WITHOUT ROWID",
        "CREATE TABLE IF NOT EXISTS partners (name VARCHAR(256) NOT NULL PRIMARY KEY, plan VARCHAR(256), "
        "enabled TINYINT NOT NULL DEFAULT 1, note VARCHAR(2000) NOT NULL DEFAULT '', "
        "revision BIGINT NOT NULL DEFAULT 0, changed_at VARCHAR(40), "
        "changed_by VARCHAR(256) NOT NULL DEFAULT '', FOREIGN KEY (plan) REFERENCES plans (name)) "
        "ENGINE=InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin"},
    Statement{"CREATE INDEX IF NOT EXISTS partners_plan ON partners (plan)", ""},
    Statement{
        "CREATE TABLE IF NOT EXISTS api_keys (id TEXT NOT NULL PRIMARY KEY, key_sha256 TEXT NOT NULL UNIQUE, "
        "partner TEXT NOT NULL REFERENCES partners (name), plan TEXT REFERENCES plans (name), "
        "enabled INTEGER NOT NULL DEFAULT 1, not_before TEXT, expires TEXT, note TEXT NOT NULL DEFAULT '', "
        "revision INTEGER NOT NULL DEFAULT 0, changed_at TEXT, changed_by TEXT NOT NULL DEFAULT '') WITHOUT ROWID",
        "CREATE TABLE IF NOT EXISTS api_keys ("
        "id VARCHAR(128) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL PRIMARY KEY, "
        "key_sha256 VARCHAR(64) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL UNIQUE, "
        "partner VARCHAR(256) NOT NULL, plan VARCHAR(256), enabled TINYINT NOT NULL DEFAULT 1, "
        "not_before VARCHAR(40), expires VARCHAR(40), note VARCHAR(2000) NOT NULL DEFAULT '', "
        "revision BIGINT NOT NULL DEFAULT 0, changed_at VARCHAR(40), "
        "changed_by VARCHAR(256) NOT NULL DEFAULT '', FOREIGN KEY (partner) REFERENCES partners (name), "
        "FOREIGN KEY (plan) REFERENCES plans (name)) "
        "ENGINE=InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin"},
    Statement{"CREATE INDEX IF NOT EXISTS api_keys_partner ON api_keys (partner)", ""},
    Statement{"CREATE INDEX IF NOT EXISTS api_keys_plan ON api_keys (plan)", ""},
    Statement{"CREATE TABLE IF NOT EXISTS limits (partner TEXT NOT NULL DEFAULT '', plan TEXT NOT NULL DEFAULT '', "
              "`limit` TEXT NOT NULL, service TEXT NOT NULL DEFAULT '', endpoint TEXT NOT NULL DEFAULT '', "
              "algorithm TEXT, rate TEXT NOT NULL, burst INTEGER, mode TEXT NOT NULL DEFAULT 'enforce', "
              "note TEXT NOT NULL DEFAULT '', revision INTEGER NOT NULL DEFAULT 0, changed_at TEXT, "
              "changed_by TEXT NOT NULL DEFAULT '', PRIMARY KEY (partner, plan, `limit`, service, endpoint)) "
              "WITHOUT ROWID",
              "CREATE TABLE IF NOT EXISTS limits (partner VARCHAR(256) NOT NULL DEFAULT '', "
              "plan VARCHAR(256) NOT NULL DEFAULT '', "
              "`limit` VARCHAR(128) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL, "
              "service VARCHAR(128) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL DEFAULT '', "
              "endpoint VARCHAR(512) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL DEFAULT '', "
              "algorithm VARCHAR(32), rate VARCHAR(64) NOT NULL, burst BIGINT, "
              "mode VARCHAR(16) NOT NULL DEFAULT 'enforce', note VARCHAR(2000) NOT NULL DEFAULT '', "
              "revision BIGINT NOT NULL DEFAULT 0, changed_at VARCHAR(40), "
              "changed_by VARCHAR(256) NOT NULL DEFAULT '', "
              "PRIMARY KEY (partner, plan, `limit`, service, endpoint)) "
              "ENGINE=InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin"},
};

constexpr std::array kLog{
    Statement{"CREATE TABLE IF NOT EXISTS revision (id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1), "
              "revision INTEGER NOT NULL)",
              "CREATE TABLE IF NOT EXISTS revision (id TINYINT NOT NULL PRIMARY KEY CHECK (id = 1), "
              "revision BIGINT NOT NULL) ENGINE=InnoDB"},
    Statement{"INSERT OR IGNORE INTO revision (id, revision) VALUES (1, 0)",
              "INSERT IGNORE INTO revision (id, revision) VALUES (1, 0)"},
    Statement{
        "CREATE TABLE IF NOT EXISTS changes (revision INTEGER NOT NULL PRIMARY KEY, change_id TEXT NOT NULL, "
        "changed_at TEXT NOT NULL, changed_by TEXT NOT NULL, action TEXT NOT NULL, kind TEXT NOT NULL, "
        "name TEXT NOT NULL, partner TEXT NOT NULL DEFAULT '', subject_kind TEXT NOT NULL, subject TEXT NOT NULL, "
        "`before` TEXT, `after` TEXT)",
        "CREATE TABLE IF NOT EXISTS changes (revision BIGINT NOT NULL PRIMARY KEY, "
        "change_id VARCHAR(32) CHARACTER SET ascii NOT NULL, changed_at VARCHAR(40) NOT NULL, "
        "changed_by VARCHAR(256) NOT NULL, action VARCHAR(16) NOT NULL, kind VARCHAR(16) NOT NULL, "
        "name TEXT NOT NULL, partner VARCHAR(256) NOT NULL DEFAULT '', subject_kind VARCHAR(16) NOT NULL, "
        "subject VARCHAR(256) NOT NULL, `before` MEDIUMTEXT, `after` MEDIUMTEXT, INDEX (change_id), "
        "INDEX (partner)) ENGINE=InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin"},
    Statement{"CREATE INDEX IF NOT EXISTS changes_change_id ON changes (change_id)", ""},
    Statement{"CREATE INDEX IF NOT EXISTS changes_partner ON changes (partner)", ""},
};

// Step n brings version n - 1 to n. A step that was published never changes.
constexpr std::array<std::span<const Statement>, kSchemaVersion> kSteps{kTables, kLog};

constexpr std::array kVersion{
    Statement{"CREATE TABLE IF NOT EXISTS schema_version (id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1), "
              "version INTEGER NOT NULL)",
              "CREATE TABLE IF NOT EXISTS schema_version (id TINYINT NOT NULL PRIMARY KEY CHECK (id = 1), "
              "version BIGINT NOT NULL) ENGINE=InnoDB"},
    Statement{"INSERT OR IGNORE INTO schema_version (id, version) VALUES (1, 0)",
              "INSERT IGNORE INTO schema_version (id, version) VALUES (1, 0)"},
};

sql::Result<void> run(sql::Connection& connection, std::span<const Statement> statements) {
  for (const Statement& one : statements) {
    const std::string text(connection.dialect() == Dialect::kSqlite ? one.sqlite : one.mariadb);
    if (text.empty()) continue;
    if (auto done = connection.execute(text); !done) return done;
  }
  return {};
}

sql::Result<std::int64_t> number(sql::Connection& connection, const std::string& statement,
                                 const std::vector<sql::Value>& values = {}) {
  auto answer = connection.query(statement, values);
  if (!answer) return std::unexpected(std::move(answer.error()));
  const auto* found = answer->rows.empty() ? nullptr : std::get_if<std::int64_t>(&answer->rows[0][0]);
  return found == nullptr ? 0 : *found;
}

// Requires: nobody else is at it.
sql::Result<std::int64_t> run_steps(sql::Connection& connection, std::int64_t target) {
  auto before = schema_version(connection);
  if (!before || *before >= target) return before;
  if (auto done = run(connection, kVersion); !done) return std::unexpected(done.error());
  for (std::int64_t step = *before + 1; step <= target; ++step) {
    if (auto done = run(connection, kSteps[static_cast<std::size_t>(step - 1)]); !done) {
      return std::unexpected(done.error());
    }
    const std::vector<sql::Value> values{step};
    auto done = connection.query("UPDATE schema_version SET version = ? WHERE id = 1", values);
    if (!done) return std::unexpected(std::move(done.error()));
  }
  return before;
}

sql::Result<std::int64_t> migrate_sqlite(sql::Connection& connection, std::int64_t target) {
  auto transaction = sql::Transaction::begin(connection, sql::Transaction::Kind::kWriting);
  if (!transaction) return std::unexpected(std::move(transaction.error()));
  auto before = run_steps(connection, target);
  if (!before) return before;
  if (auto done = transaction->commit(); !done) return std::unexpected(std::move(done.error()));
  return before;
}

// Statements about tables commit what was before them, so there is a lock instead of a transaction.
sql::Result<std::int64_t> migrate_mariadb(sql::Connection& connection, std::int64_t target) {
  auto locked = number(connection, "SELECT GET_LOCK(CONCAT('weir ', LEFT(DATABASE(), 50)), 1)");
  if (!locked) return locked;
  if (*locked != 1)
    return std::unexpected(sql::Error{sql::ErrorKind::kBusy, "another program is changing the schema"});
  auto before = run_steps(connection, target);
  if (!connection.lost()) {  // else the lock ended with it
    [[maybe_unused]] const auto released =
        number(connection, "SELECT RELEASE_LOCK(CONCAT('weir ', LEFT(DATABASE(), 50)))");
  }
  return before;
}

}  // namespace

sql::Result<std::int64_t> schema_version(sql::Connection& connection) {
  const auto there = number(connection, connection.dialect() == Dialect::kSqlite
                                            ? "SELECT COUNT(*) FROM sqlite_master WHERE name = 'schema_version'"
                                            : "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = "
                                              "DATABASE() AND table_name = 'schema_version'");
  if (!there || *there == 0) return there;
  return number(connection, "SELECT version FROM schema_version WHERE id = 1");
}

sql::Result<std::int64_t> migrate(sql::Connection& connection, std::int64_t target) {
  return connection.dialect() == Dialect::kSqlite ? migrate_sqlite(connection, target)
                                                  : migrate_mariadb(connection, target);
}

}  // namespace weir::partners
