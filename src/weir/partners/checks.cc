// SPDX-License-Identifier: Apache-2.0
#include "weir/partners/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "weir/partners/session.h"
#include "weir/partners/tables.h"
#include "weir/partners/validate.h"

namespace weir::partners {
namespace {

constexpr std::size_t kPageRows = 1000;

class Checker {
 public:
  Checker(sql::Connection& connection, const Scopes* scopes) : tables_(connection), scopes_(scopes) {}

  // Kinds in the order in which they name each other.
  Outcome<void> check(RowKind kind) {
    RowFilter filter;
    filter.most = kPageRows;
    for (;;) {
      const auto rows = tables_.list(kind, filter);
      if (!rows) return std::unexpected(refusal_of(rows.error()));
      for (const StoredRow& one : *rows) check(kind, one);
      if (rows->size() < kPageRows) return {};
      filter.after = stored_id(kind, rows->back().json);
    }
  }

  Faults take() { return std::move(faults_); }

 private:
  void check(RowKind kind, const StoredRow& stored) {
    there_.insert(stored_id(kind, stored.json));
    if (!stored.row) return add(stored.row.error());
    if (const auto* partner = std::get_if<Partner>(&*stored.row)) {
      check_reference(*stored.row, "plan", RowKind::kPlan, partner->plan);
    } else if (const auto* key = std::get_if<Key>(&*stored.row)) {
      check_reference(*stored.row, "partner", RowKind::kPartner, key->partner);
      check_reference(*stored.row, "plan", RowKind::kPlan, key->plan);
    } else if (const auto* limit = std::get_if<LimitRow>(&*stored.row)) {
      const bool of_partner = limit->owner.kind == OwnerKind::kPartner;
      check_reference(*stored.row, of_partner ? "partner" : "plan", of_partner ? RowKind::kPartner : RowKind::kPlan,
                      limit->owner.name);
      if (scopes_ != nullptr) add(faults_of(*limit, *scopes_));
    }
  }

  void check_reference(const Row& row, const char* field, RowKind kind, const std::string& name) {
    const RowId id{kind, name, {}};
    if (name.empty() || there_.contains(id)) return;
    faults_.push_back({to_text(id_of(row)), field, fmt::format("there is no {}", to_text(id))});
  }

  void add(Faults faults) { std::ranges::move(faults, std::back_inserter(faults_)); }

  Tables tables_;
  const Scopes* scopes_;
  std::set<RowId> there_;
  Faults faults_;
};

}  // namespace

Outcome<Faults> check_all(sql::Connection& connection, const Scopes* scopes) {
  Checker checker(connection, scopes);
  for (const RowKind kind : {RowKind::kPlan, RowKind::kPartner, RowKind::kKey, RowKind::kLimit}) {
    if (auto done = checker.check(kind); !done) return std::unexpected(std::move(done.error()));
  }
  return checker.take();
}

}  // namespace weir::partners
