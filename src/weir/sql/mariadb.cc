// SPDX-License-Identifier: Apache-2.0
//
// MariaDB, by its client library. Values go by the binary protocol.
#include <errmsg.h>
#include <fmt/format.h>
#include <mysql.h>
#include <mysqld_error.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "weir/sql/connection.h"
#include "weir/sql/mariadb_values.h"
#include "weir/sql/statement_cache.h"

namespace weir::sql {
namespace {

struct Close {
  void operator()(MYSQL* server) const { mysql_close(server); }
};
struct CloseStatement {
  void operator()(MYSQL_STMT* statement) const { mysql_stmt_close(statement); }
};
struct FreeResult {
  void operator()(MYSQL_RES* result) const { mysql_free_result(result); }
};
using Server = std::unique_ptr<MYSQL, Close>;
using Prepared = std::unique_ptr<MYSQL_STMT, CloseStatement>;
using Metadata = std::unique_ptr<MYSQL_RES, FreeResult>;

bool is_client_fault(unsigned code) { return code >= CR_MIN_ERROR && code <= CR_MAX_ERROR; }

ErrorKind kind_of(unsigned code) {
  switch (code) {
    case ER_LOCK_WAIT_TIMEOUT:
    case ER_LOCK_DEADLOCK:
    case ER_STATEMENT_TIMEOUT:
    case ER_OPTION_PREVENTS_STATEMENT:  // read-only: a replica, until it has taken over
    case ER_CHECKREAD:
    case ER_QUERY_INTERRUPTED:
    case CR_NEW_STMT_METADATA:  // a table has got other columns meanwhile
      return ErrorKind::kBusy;
    case ER_DUP_ENTRY:
    case ER_NO_REFERENCED_ROW:
    case ER_NO_REFERENCED_ROW_2:
    case ER_ROW_IS_REFERENCED:
    case ER_ROW_IS_REFERENCED_2:
    case ER_BAD_NULL_ERROR:
    case ER_DATA_TOO_LONG:
    case ER_CONSTRAINT_FAILED:
      return ErrorKind::kConstraint;
    case ER_CON_COUNT_ERROR:
    case ER_TOO_MANY_USER_CONNECTIONS:
    case ER_SERVER_SHUTDOWN:
    case ER_NORMAL_SHUTDOWN:
    case ER_CONNECTION_KILLED:
    case ER_NET_READ_ERROR:
    case ER_NET_READ_INTERRUPTED:
    case ER_NET_ERROR_ON_WRITE:
    case ER_NET_WRITE_INTERRUPTED:
    case ER_NET_PACKETS_OUT_OF_ORDER:
    case ER_DISK_FULL:
    case ER_RECORD_FILE_FULL:
      return ErrorKind::kUnavailable;
    default:
      return is_client_fault(code) ? ErrorKind::kUnavailable : ErrorKind::kInvalid;
  }
}

class MariaDb final : public Connection {
 public:
  explicit MariaDb(Server server) : server_(std::move(server)) {}

  Result<void> execute(const std::string& statement) override {
    if (lost_) return std::unexpected(was_lost());
    if (mysql_real_query(server_.get(), statement.data(), statement.size()) != 0) return std::unexpected(error());
    const Metadata none(mysql_store_result(server_.get()));
    return {};
  }

  Result<Answer> query(const std::string& statement, std::span<const Value> values) override {
    if (lost_) return std::unexpected(was_lost());
    auto prepared = prepare(statement);
    if (!prepared) return std::unexpected(std::move(prepared.error()));
    auto answer = run(*prepared, values);
    mysql_stmt_free_result(*prepared);
    // A table that has changed since makes a prepared statement worthless.
    if (!answer && !lost_) statements_.forget(statement);
    return answer;
  }

  Dialect dialect() const override { return Dialect::kMariaDb; }
  bool lost() const override { return lost_; }

 private:
  static Error was_lost() { return {ErrorKind::kUnavailable, "the connection was lost"}; }

  Error fault(unsigned code, const char* message) {
    const Error error{kind_of(code), message};
    lost_ = lost_ || error.kind == ErrorKind::kUnavailable;
    return error;
  }
  Error error() { return fault(mysql_errno(server_.get()), mysql_error(server_.get())); }
  Error error(MYSQL_STMT* statement) { return fault(mysql_stmt_errno(statement), mysql_stmt_error(statement)); }

  Result<MYSQL_STMT*> prepare(const std::string& statement) {
    if (const Prepared* known = statements_.find(statement)) return known->get();
    Prepared made(mysql_stmt_init(server_.get()));
    if (!made) return std::unexpected(Error{ErrorKind::kUnavailable, "out of memory"});
    if (mysql_stmt_prepare(made.get(), statement.data(), statement.size()) != 0) {
      return std::unexpected(error(made.get()));
    }
    return statements_.add(statement, std::move(made)).get();
  }

  Result<Answer> run(MYSQL_STMT* statement, std::span<const Value> values) {
    if (mysql_stmt_param_count(statement) != values.size()) {
      return std::unexpected(Error{ErrorKind::kInvalid, "a statement has not as many values as places for them"});
    }
    BoundValues bound(values);
    if (mysql_stmt_bind_param(statement, bound.data()) != 0 || mysql_stmt_execute(statement) != 0) {
      return std::unexpected(error(statement));
    }
    Answer answer;
    const Metadata columns(mysql_stmt_result_metadata(statement));
    if (!columns) {
      answer.affected = static_cast<std::int64_t>(mysql_stmt_affected_rows(statement));
      return answer;
    }
    if (!fetch(statement, columns.get(), answer.rows)) return std::unexpected(error(statement));
    return answer;
  }

  // All rows at once: the connection is free for the next statement whatever the caller does.
  static bool fetch(MYSQL_STMT* statement, MYSQL_RES* metadata, std::vector<Row>& rows) {
    if (mysql_stmt_store_result(statement) != 0) return false;
    BoundColumns columns(metadata);
    if (mysql_stmt_bind_result(statement, columns.data()) != 0) return false;
    int code = mysql_stmt_fetch(statement);
    for (; code == 0 || code == MYSQL_DATA_TRUNCATED; code = mysql_stmt_fetch(statement)) {
      auto row = columns.row(statement);
      if (!row) return false;
      rows.push_back(*std::move(row));
    }
    return code == MYSQL_NO_DATA;
  }

  Server server_;
  StatementCache<Prepared> statements_;  // before its server goes
  bool lost_ = false;
};

unsigned seconds_of(nanoseconds timeout) {
  return static_cast<unsigned>(std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(timeout).count()));
}

void set_options(MYSQL* server, const Settings& settings) {
  const unsigned timeout = seconds_of(settings.timeout);
  const unsigned reply = timeout + 1;  // locks are waited for by the server, which then says so
  const my_bool no = 0, yes = 1;
  mysql_optionsv(server, MYSQL_OPT_CONNECT_TIMEOUT, &timeout);
  mysql_optionsv(server, MYSQL_OPT_READ_TIMEOUT, &reply);
  mysql_optionsv(server, MYSQL_OPT_WRITE_TIMEOUT, &timeout);
  mysql_optionsv(server, MYSQL_OPT_RECONNECT, &no);
  mysql_optionsv(server, MYSQL_OPT_LOCAL_INFILE, nullptr);
  mysql_optionsv(server, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  mysql_optionsv(server, MYSQL_REPORT_DATA_TRUNCATION, &yes);
  const my_bool verify = settings.verify ? yes : no;
  if (!settings.ca.empty()) {
    mysql_optionsv(server, MYSQL_OPT_SSL_ENFORCE, &yes);
    mysql_optionsv(server, MYSQL_OPT_SSL_CA, settings.ca.c_str());
  }
  mysql_optionsv(server, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, settings.ca.empty() ? &no : &verify);
}

// What the server may be set up with otherwise.
std::string session_settings(const Settings& settings) {
  return fmt::format(
      "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO', "
      "SESSION innodb_lock_wait_timeout = {0}, "
      "SESSION lock_wait_timeout = {0}, SESSION autocommit = 1",
      seconds_of(settings.timeout));
}

}  // namespace

Result<std::unique_ptr<Connection>> open_mariadb(const Settings& settings) {
  static std::once_flag once;
  std::call_once(once, [] { mysql_server_init(0, nullptr, nullptr); });
  Server server(mysql_init(nullptr));
  if (!server) return std::unexpected(Error{ErrorKind::kUnavailable, "out of memory"});
  set_options(server.get(), settings);
  if (mysql_real_connect(server.get(), settings.host.c_str(), settings.user.c_str(), settings.password.c_str(),
                         settings.database.c_str(), settings.port, nullptr, CLIENT_FOUND_ROWS) == nullptr) {
    return std::unexpected(Error{kind_of(mysql_errno(server.get())), mysql_error(server.get())});
  }
  auto connection = std::make_unique<MariaDb>(std::move(server));
  for (const std::string& setting :
       {session_settings(settings), std::string("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")}) {
    if (auto done = connection->execute(setting); !done) return std::unexpected(done.error());
  }
  return connection;
}

}  // namespace weir::sql
