// SPDX-License-Identifier: Apache-2.0
//
// Changes of rows inside one transaction: each is checked against what is there, stamped, and written to the log.
// Thread safety: as the connection.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "weir/base/clock.h"
#include "weir/partners/change_log.h"
#include "weir/partners/limit_scope.h"
#include "weir/partners/refusal.h"
#include "weir/partners/row.h"
#include "weir/partners/tables.h"

namespace weir::partners {

// What becomes of one row.
struct Edit {
  RowId id;
  std::optional<Row> row;                // absent: it is removed
  std::optional<std::int64_t> expected;  // its revision; 0: it must not be there. Absent: whatever is there

  static Edit put(Row row, std::optional<std::int64_t> expected = std::nullopt);
  // Puts it in place of a row that was read, if that is still there. What was written by hand has no revision, so it
  // is not known whether it is.
  static Edit change(Row row, const Row& there);
  static Edit remove(RowId id, std::optional<std::int64_t> expected = std::nullopt);
};

struct Applied {
  std::vector<Change> changes;  // in their order
  std::size_t unchanged = 0;    // rows that were so already

  bool operator==(const Applied&) const = default;
};

class Editor {
 public:
  struct Author {
    std::string by;
    WallTime at;
    std::string change_id;  // of all that is done here
  };

  // Scopes may be null: rows are then checked by themselves only. Both outlive it.
  Editor(sql::Connection& connection, const Scopes* scopes, Author author)
      : tables_(connection), log_(connection), scopes_(scopes), author_(std::move(author)) {}

  // Has to come first.
  Outcome<void> begin();
  // What makes no sense is noted, so that all of it can be told; other refusals end it.
  Outcome<void> apply(const Edit& edit);
  // Requires: no refusal before. Refuses where something made no sense.
  Outcome<Applied> finish();

  Tables& tables() { return tables_; }

 private:
  Outcome<void> put(const Row& row, const std::optional<StoredRow>& stored);
  Outcome<void> remove(const RowId& id, const StoredRow& stored);
  Outcome<void> remove_dependents(const RowId& id);
  Outcome<void> check_unused(const RowId& plan);
  Outcome<Faults> reference_faults(const Row& row);
  Outcome<void> check_reference(Faults& faults, const RowId& of, const std::string& field, const RowId& to);
  Outcome<void> check_digest(Faults& faults, const Key& key);
  Outcome<void> record(Change::Action action, const RowId& id, const StoredRow* before, const Row* after);

  Tables tables_;
  ChangeLog log_;
  const Scopes* scopes_;
  Author author_;
  std::int64_t revision_ = 0;
  std::set<RowId> known_;  // rows that are there
  Faults faults_;
  Applied applied_;
};

}  // namespace weir::partners
