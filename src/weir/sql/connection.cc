// SPDX-License-Identifier: Apache-2.0
#include "weir/sql/connection.h"

namespace weir::sql {

Result<std::unique_ptr<Connection>> open(const Settings& settings) {
  return settings.path.empty() ? open_mariadb(settings) : open_sqlite(settings);
}

}  // namespace weir::sql
