// SPDX-License-Identifier: Apache-2.0
//
// SQLite: one file, readable to its owner only, with a write-ahead log.
#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "weir/base/percent.h"
#include "weir/sql/connection.h"
#include "weir/sql/statement_cache.h"

namespace weir::sql {
namespace {

struct Close {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, Close>;
using Prepared = std::unique_ptr<sqlite3_stmt, Finalize>;

ErrorKind kind_of(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return ErrorKind::kBusy;
    case SQLITE_CONSTRAINT:
      return ErrorKind::kConstraint;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_FULL:
    case SQLITE_READONLY:
    case SQLITE_NOMEM:
    case SQLITE_PROTOCOL:
      return ErrorKind::kUnavailable;
    default:
      return ErrorKind::kInvalid;
  }
}

// SQLite would create it readable to all. The files of the log get the same mode.
// A file that is there is not opened here: closing it would end the locks of all connections of this process to it
// (POSIX advisory locks; sqlite.org/howtocorrupt.html section 2.2), and another process would then take away the log
// that they read. So nobody may connect to a file that is being made either.
Result<void> create_file(const std::string& path) {
  static std::mutex making;
  const std::lock_guard lock(making);
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file >= 0) {
    ::close(file);
    return {};
  }
  if (errno == EEXIST) return {};
  return std::unexpected(
      Error{ErrorKind::kUnavailable, fmt::format("'{}' cannot be opened: {}", path, std::strerror(errno))});
}

class Sqlite final : public Connection {
 public:
  explicit Sqlite(Database database) : database_(std::move(database)) {}

  Result<void> execute(const std::string& statement) override {
    const int code = sqlite3_exec(database_.get(), statement.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return std::unexpected(error());
    return {};
  }

  Result<Answer> query(const std::string& statement, std::span<const Value> values) override {
    auto prepared = prepare(statement);
    if (!prepared) return std::unexpected(std::move(prepared.error()));
    sqlite3_stmt* const ready = *prepared;
    auto answer = bind(ready, values) ? run(ready) : std::unexpected(error());
    sqlite3_reset(ready);
    sqlite3_clear_bindings(ready);
    return answer;
  }

  Dialect dialect() const override { return Dialect::kSqlite; }
  bool lost() const override { return lost_; }

 private:
  Error error() {
    const Error error{kind_of(sqlite3_extended_errcode(database_.get())), sqlite3_errmsg(database_.get())};
    lost_ = lost_ || error.kind == ErrorKind::kUnavailable;
    return error;
  }

  Result<sqlite3_stmt*> prepare(const std::string& statement) {
    if (const Prepared* known = statements_.find(statement)) return known->get();
    sqlite3_stmt* made = nullptr;
    const int code =
        sqlite3_prepare_v2(database_.get(), statement.data(), static_cast<int>(statement.size()), &made, nullptr);
    if (code != SQLITE_OK) return std::unexpected(error());
    return statements_.add(statement, Prepared(made)).get();
  }

  // False: error() tells why. The values outlive the run.
  static bool bind(sqlite3_stmt* statement, std::span<const Value> values) {
    if (std::cmp_not_equal(sqlite3_bind_parameter_count(statement), values.size())) {
      return sqlite3_bind_null(statement, 0) == SQLITE_OK;  // SQLITE_RANGE, always
    }
    int place = 0;
    return std::ranges::all_of(values,
                               [&](const Value& value) { return bind(statement, ++place, value) == SQLITE_OK; });
  }

  static int bind(sqlite3_stmt* statement, int place, const Value& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) return sqlite3_bind_int64(statement, place, *number);
    if (const auto* text = std::get_if<std::string>(&value)) {
      return sqlite3_bind_text64(statement, place, text->data(), text->size(), SQLITE_STATIC, SQLITE_UTF8);
    }
    if (const auto* bytes = std::get_if<Bytes>(&value)) {
      return bytes->octets.empty()
                 ? sqlite3_bind_zeroblob(statement, place, 0)
                 : sqlite3_bind_blob64(statement, place, bytes->octets.data(), bytes->octets.size(), SQLITE_STATIC);
    }
    return sqlite3_bind_null(statement, place);
  }

  Result<Answer> run(sqlite3_stmt* statement) {
    Answer answer;
    const auto before = sqlite3_total_changes64(database_.get());
    int code = sqlite3_step(statement);
    for (; code == SQLITE_ROW; code = sqlite3_step(statement)) answer.rows.push_back(row_of(statement));
    if (code != SQLITE_DONE) return std::unexpected(error());
    if (sqlite3_total_changes64(database_.get()) != before) answer.affected = sqlite3_changes64(database_.get());
    return answer;
  }

  static Row row_of(sqlite3_stmt* statement) {
    Row row;
    const int columns = sqlite3_column_count(statement);
    row.reserve(static_cast<std::size_t>(columns));
    for (int i = 0; i < columns; ++i) row.push_back(value_of(statement, i));
    return row;
  }

  static std::string octets_of(const void* data, int size) {
    return size > 0 ? std::string(static_cast<const char*>(data), static_cast<std::size_t>(size)) : std::string();
  }

  // Numbers with a fraction are text here: nothing of ours has any.
  static Value value_of(sqlite3_stmt* statement, int column) {
    switch (sqlite3_column_type(statement, column)) {
      case SQLITE_NULL:
        return Null{};
      case SQLITE_INTEGER:
        return std::int64_t{sqlite3_column_int64(statement, column)};
      case SQLITE_BLOB: {
        const void* data = sqlite3_column_blob(statement, column);  // before its size is asked
        return Bytes{octets_of(data, sqlite3_column_bytes(statement, column))};
      }
      default: {
        const void* data = sqlite3_column_text(statement, column);
        return octets_of(data, sqlite3_column_bytes(statement, column));
      }
    }
  }

  Database database_;
  StatementCache<Prepared> statements_;
  bool lost_ = false;
};

// FULL: what was committed is on the disk, whatever happens to the machine.
constexpr std::array<const char*, 3> kPreparation{"PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL",
                                                  "PRAGMA foreign_keys = ON"};

bool is_there(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

// A log that is empty, and that nobody has open, says nothing.
bool has_log(const std::string& path) {
  struct stat log{};
  return ::stat((path + "-wal").c_str(), &log) == 0 && (log.st_size > 0 || is_there(path + "-shm"));
}

// How to read a file without leaving a trace (sqlite.org/wal.html section 7). A log beside it is read with it, by the
// index that those who write keep, or by one in memory. Without a log nobody is connected and the file has it all:
// only as an immutable one it is read without making a log. Whoever begins to write then, writes to a log first.
std::string address_to_read(const std::string& path) {
  return fmt::format("file:{}?mode=ro&{}", percent_encoded(path), has_log(path) ? "readonly_shm=1" : "immutable=1");
}

}  // namespace

Result<std::unique_ptr<Connection>> open_sqlite(const Settings& settings) {
  const bool reads = settings.read_only;
  if (auto created = reads ? Result<void>() : create_file(settings.path); !created) {
    return std::unexpected(std::move(created.error()));
  }
  sqlite3* opened = nullptr;
  const int use = reads ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI : SQLITE_OPEN_READWRITE;
  const std::string address = reads ? address_to_read(settings.path) : settings.path;
  const int code =
      sqlite3_open_v2(address.c_str(), &opened, use | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  Database database(opened);
  if (code != SQLITE_OK) {
    return std::unexpected(
        Error{kind_of(code), fmt::format("'{}' cannot be opened: {}", settings.path, sqlite3_errstr(code))});
  }
  const auto timeout = std::chrono::ceil<std::chrono::milliseconds>(settings.timeout);
  sqlite3_busy_timeout(database.get(), static_cast<int>(timeout.count()));
  auto connection = std::make_unique<Sqlite>(std::move(database));
  if (reads) return connection;
  for (const char* pragma : kPreparation) {
    if (auto done = connection->execute(pragma); !done) {
      return std::unexpected(Error{done.error().kind, fmt::format("'{}': {}", settings.path, done.error().message)});
    }
  }
  return connection;
}

}  // namespace weir::sql
