// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstring>
#include <fstream>

#include "weir/config/language.h"
#include "weir/config/scalars.h"
#include "weir/config/sql_url.h"

namespace weir::config {
namespace {

using std::chrono::days;
using std::chrono::milliseconds;
using std::chrono::seconds;

void check_file(Reader& reader, const Place& place, const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (file && file.peek() != std::ifstream::traits_type::eof()) return;
  reader.report.error(place, errno == 0
                                 ? fmt::format("the file '{}' is empty", path)
                                 : fmt::format("the file '{}' cannot be read: {}", path, std::strerror(errno)));
}

void check_sql(Reader& reader, const Fields& fields, Policies::Sql& sql) {
  if (fields.readable("ca")) {
    sql.ca = (reader.folder / sql.ca).string();
    check_file(reader, fields.place("ca"), sql.ca);
  }
  if (!fields.readable("url")) return;
  for (const char* key : {"ca", "verify"}) {
    if (sql.url.path.empty() || !fields.has(key)) continue;
    reader.report.error(fields.place(key), fmt::format("'{}' has no meaning with sqlite, which is a file", key));
  }
  if (sql.url.path.empty() && fields.has("verify") && !fields.has("ca")) {
    reader.report.error(fields.place("verify"), "'verify' has no meaning without `ca`, the certificates to trust");
  }
}

void check_cache(Reader& reader, const Fields& fields, Policies::Cache& cache) {
  if (!fields.good("ttl") || !fields.good("absent_ttl") || cache.absent_ttl <= cache.ttl) return;
  if (!fields.has("absent_ttl")) {
    cache.absent_ttl = cache.ttl;
    return;
  }
  reader.report.error(
      fields.place("absent_ttl"),
      fmt::format("absent_ttl {} is more than ttl {}", duration_text(cache.absent_ttl), duration_text(cache.ttl)));
}

Type<Policies::Sql> sql() {
  using Sql = Policies::Sql;
  Object<Sql> sql("sql", "The database.");
  sql.required("url", &Sql::url, sql_url(),
               "sqlite:path, relative to the configuration file, or mysql://user:password@name:port/database; user, "
               "password and database are percent-encoded. MariaDB is reached with mysql://.")
      .key("ca", &Sql::ca, text(),
           "Of mysql: a file with the certificates that are trusted, relative to the configuration file; asks for "
           "TLS. Default: no TLS.")
      .key("verify", &Sql::verify, boolean(), "With `ca`: whether the certificate must name the server.")
      .key("timeout", &Sql::timeout, duration(milliseconds(1), seconds(60)),
           "How long connecting, and each statement, may take.")
      .key("connections", &Sql::connections, number<std::uint32_t>(1, 64), "Connections of one gateway.")
      .check(check_sql);
  return sql;
}

Type<Policies::Cache> cache() {
  using Cache = Policies::Cache;
  Object<Cache> cache("cache", "What gateways remember of the database.");
  cache
      .key("ttl", &Cache::ttl, duration(milliseconds(100), days(1)),
           "How long a record is used without asking again.")
      .key("absent_ttl", &Cache::absent_ttl, duration(milliseconds(100), days(1)),
           "The same of a name that has no record; at most `ttl`.")
      .key("redis", &Cache::redis, boolean(),
           "Whether gateways share records through store.redis, where there is one.")
      .key("max", &Cache::max, number<std::uint64_t>(1, 1'000'000'000),
           "The most records in memory, and rows of limits in them; others are looked up each time.")
      .key(
          "snapshot", &Cache::snapshot, word_or<std::string>("off", "", text()),
          "A file, relative to the configuration file, from which a gateway starts while the database is away; `off` "
          "for none.")
      .check(check_cache);
  return cache;
}

}  // namespace

Type<std::optional<Policies>> policies_section() {
  Object<Policies> policies("policies");
  policies.required("sql", &Policies::sql, sql(), "The database.")
      .key("cache", &Policies::cache, cache(), "What gateways remember of the database.")
      .key("budget", &Policies::budget, duration(milliseconds(1), seconds(10)),
           "How long a request waits for the records that it needs.")
      .key("poll", &Policies::poll, duration(milliseconds(10), seconds(3600)),
           "How often the database is asked what has changed.");
  auto section = as<std::optional<Policies>>(Type<Policies>(policies));
  section.read = [read = std::move(section.read)](Reader& reader, const Node& node, std::optional<Policies>& out) {
    reader.scope.policies = true;
    reader.scope.attributes.insert("plan");  // a partner's row has one
    reader.scope.plans_complete = false;
    const bool good = read(reader, node, out);
    if (out && !out->cache.snapshot.empty()) out->cache.snapshot = (reader.folder / out->cache.snapshot).string();
    return good;
  };
  return section;
}

}  // namespace weir::config
