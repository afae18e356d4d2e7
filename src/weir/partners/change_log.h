// SPDX-License-Identifier: Apache-2.0
//
// The log of changes and the revision, which orders them. Inside a transaction of the caller. Thread safety: as the
// connection.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weir/partners/change.h"
#include "weir/sql/connection.h"

namespace weir::partners {

// Which changes are listed, in their order. Empty: all.
struct ChangeFilter {
  std::int64_t after = 0;  // a revision
  std::optional<RowKind> kind;
  std::string partner;  // that they are about
  std::string by;
  bool newest_first = false;
  std::size_t most = 1000;
};

class ChangeLog {
 public:
  // The connection outlives it.
  explicit ChangeLog(sql::Connection& connection) : connection_(connection) {}

  sql::Result<std::int64_t> revision();
  // Keeps everybody else from writing until the transaction ends, so that the order of revisions is that of commits.
  sql::Result<std::int64_t> lock();
  // Requires: locked; revisions count up from the one that lock() returned.
  sql::Result<void> append(const std::string& change_id, const Change& change, const std::string& partner);
  // Of the last change that was appended.
  sql::Result<void> set_revision(std::int64_t revision);

  // Whether the transaction of this id was committed. Requires: locked.
  sql::Result<bool> has(const std::string& change_id);
  // Those that cannot be read are left out.
  sql::Result<std::vector<Change>> list(const ChangeFilter& filter);

 private:
  sql::Result<std::int64_t> number(const std::string& statement, const std::vector<sql::Value>& values);

  sql::Connection& connection_;
};

}  // namespace weir::partners
