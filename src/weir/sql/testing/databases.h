// SPDX-License-Identifier: Apache-2.0
//
// For tests: empty databases of either kind. All tests of a program share one MariaDB server, which is started when
// the first of them needs it. Thread safety: none.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>

#include "weir/sql/connection.h"
#include "weir/sql/testing/mariadb_server.h"

namespace weir::sql::testing {

// What was made for it goes with it.
struct Database {
  ~Database();

  Settings settings;
  MariaDbServer* server = nullptr;  // of MariaDB
};

struct Databases {
  // Null: MariaDB is not installed.
  static std::unique_ptr<Database> fresh(Dialect dialect);
};

inline std::unique_ptr<Database> fresh_file() {
  std::string folder = std::filesystem::temp_directory_path() / "weir-sqlite-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("cannot create " + folder);
  auto database = std::make_unique<Database>();
  database->settings.path = folder + "/policies.db";
  return database;
}

inline Database::~Database() {
  std::error_code ignored;
  if (!settings.path.empty())
    std::filesystem::remove_all(std::filesystem::path(settings.path).parent_path(), ignored);
}

inline std::unique_ptr<Database> Databases::fresh(Dialect dialect) {
  if (dialect == Dialect::kSqlite) return fresh_file();
  if (!MariaDbServer::available()) return nullptr;
  static MariaDbServer server;
  server.clear();
  auto database = std::make_unique<Database>();
  database->settings = server.settings();
  database->server = &server;
  return database;
}

}  // namespace weir::sql::testing
