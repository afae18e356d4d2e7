// SPDX-License-Identifier: Apache-2.0
#include "weir/config/sql_url.h"

#include "weir/config/url.h"

namespace weir::config {
namespace {

constexpr std::string_view kSqlite = "sqlite:";
constexpr std::string_view kMysql = "mysql://";
constexpr std::string_view kForms = "a database is sqlite:path or mysql://user:password@name:port/database";
constexpr UrlForm kMysqlForm{3306, "a server is mysql://user:password@name:port/database"};
constexpr std::size_t kLongestDatabase = 64;  // of MariaDB

Parsed<SqlUrl> parse_sqlite(std::string_view text) {
  const std::string_view path = text.substr(kSqlite.size());
  if (path.empty()) return fault("'sqlite:' needs the path of a file, for example sqlite:policies.db");
  if (path.starts_with("//")) {
    return fault(fmt::format("'{}' has a host, but SQLite is a file of this machine", text),
                 "the path comes right after 'sqlite:'");
  }
  if (path.find('\0') != path.npos) return fault("the path of a file cannot have a NUL byte");
  if (path == ":memory:") return fault("a database in memory would be empty at every start", "name a file");
  SqlUrl url;
  url.text = text;
  url.path = path;
  return url;
}

// `/name`.
Parsed<std::string> parse_database(std::string_view tail) {
  if (tail.size() < 2 || tail[0] != '/')
    return fault("the name of the database is missing after the server", "after the port comes /database");
  auto name = percent_decoded(tail.substr(1), "the name of a database");
  if (!name) return name;
  const bool plain = tail.substr(1).find_first_of("/?#") == tail.npos && name->find('\0') == name->npos;
  if (!plain || name->size() > kLongestDatabase) {
    return fault(fmt::format("'{}' is not the name of a database; `ca`, `verify` and `timeout` are keys beside `url`",
                             tail.substr(1)));
  }
  return name;
}

Parsed<SqlUrl> parse_mysql(std::string_view text) {
  auto parts = split_url(text.substr(kMysql.size()));
  if (!parts) return std::unexpected(parts.error());
  if (parts->user.empty()) return fault(fmt::format("the user is missing; {}", kForms));
  SqlUrl url;
  url.text = fmt::format("{}{}{}", kMysql, parts->server, parts->tail);
  auto server = parse_authority(url.text, parts->server, kMysqlForm);
  if (!server) return std::unexpected(server.error());
  auto database = parse_database(parts->tail);
  if (!database) return std::unexpected(database.error());
  url.server = *std::move(server);
  url.user = std::move(parts->user);
  url.password = std::move(parts->password);
  url.database = *std::move(database);
  return url;
}

}  // namespace

Parsed<SqlUrl> parse_sql_url(std::string_view text) {
  if (text.starts_with(kSqlite)) return parse_sqlite(text);
  if (text.starts_with(kMysql)) return parse_mysql(text);
  const std::size_t scheme = text.find(':');
  if (text.starts_with("mariadb://")) {
    return fault("'mariadb' is not a scheme here", "MariaDB is reached with mysql://");
  }
  if (scheme == text.npos || text.find('@') < scheme) return fault(fmt::format("there is no scheme; {}", kForms));
  return fault(fmt::format("'{}' is not a scheme of a database; {}", text.substr(0, scheme), kForms));
}

Type<SqlUrl> sql_url() {
  Json schema{{"type", "string"}, {"pattern", "^(sqlite:.+|mysql://.+@.+/.+)$"}};
  Type<SqlUrl> type = scalar<SqlUrl>("a URL such as sqlite:policies.db", std::move(schema), parse_sql_url);
  type.read = [read = std::move(type.read)](Reader& reader, const Node& node, SqlUrl& out) {
    if (!read(reader, node, out)) return false;
    if (!out.path.empty()) out.path = (reader.folder / out.path).string();
    return true;
  };
  return type;
}

}  // namespace weir::config
