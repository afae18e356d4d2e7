// SPDX-License-Identifier: Apache-2.0
#include "weir/partners/settings.h"

#include <utility>

namespace weir::partners {

sql::Settings sql_settings(const config::Policies::Sql& sql) {
  const config::SqlUrl& url = sql.url;
  return {.path = url.path,
          .host = url.server.host,
          .port = url.server.port,
          .user = url.user,
          .password = url.password,
          .database = url.database,
          .ca = sql.ca,
          .verify = sql.verify,
          .timeout = sql.timeout};
}

Session::Open opener(sql::Settings settings) {
  return [settings = std::move(settings)] { return sql::open(settings); };
}

}  // namespace weir::partners
