// SPDX-License-Identifier: Apache-2.0
//
// A connection to a database. Values are always bound, never put into the text of a statement. All calls block, each
// for the timeout of the settings and a second at most. A connection that was lost stays lost: the caller opens
// another. Thread safety: one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "weir/sql/value.h"

namespace weir::sql {

using std::chrono::nanoseconds;

// Where dialects differ, statements are written twice. Both take names in `backticks`.
enum class Dialect : std::uint8_t { kSqlite, kMariaDb };

struct Settings {
  std::string path;  // of SQLite; empty: a server
  // Of SQLite: neither the file nor anything beside it is written, or made.
  bool read_only = false;
  std::string host;
  std::uint16_t port = 0;
  std::string user;
  std::string password;
  std::string database;
  std::string ca;      // a file of certificates; empty: no TLS
  bool verify = true;  // with `ca`: the certificate must name the server
  nanoseconds timeout = std::chrono::seconds(2);

  bool operator==(const Settings&) const = default;
};

class Connection {
 public:
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // One statement without values that gives no rows.
  virtual Result<void> execute(const std::string& statement) = 0;
  // One statement with its values, which stand for `?` in their order.
  virtual Result<Answer> query(const std::string& statement, std::span<const Value> values) = 0;
  virtual Dialect dialect() const = 0;
  // After kUnavailable.
  virtual bool lost() const = 0;

 protected:
  Connection() = default;
};

// The file of SQLite is created when it is not there, readable to its owner only; unless it is only to be read.
Result<std::unique_ptr<Connection>> open(const Settings& settings);

// One of each implementation; see open().
Result<std::unique_ptr<Connection>> open_sqlite(const Settings& settings);
Result<std::unique_ptr<Connection>> open_mariadb(const Settings& settings);

}  // namespace weir::sql
