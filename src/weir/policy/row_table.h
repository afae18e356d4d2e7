// SPDX-License-Identifier: Apache-2.0
//
// The rows of one owner, a partner or a plan, as the rules of one policy read them: names replaced by numbers. Found
// by the most exact row: of the service and the endpoint, of one of them, of neither.
// Thread safety: immutable after it was filled.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "weir/policy/rule.h"
#include "weir/route/router.h"

namespace weir::policy {

class RowTable {
 public:
  static constexpr std::uint32_t kEvery = UINT32_MAX;

  struct Acting {
    VariantIndex variant = kUnlimited;
    bool shadow = false;
    route::PatternIndex endpoint = kEvery;  // that the row is for
  };
  struct Scope {
    LimitIndex limit = 0;
    route::ServiceIndex service = kEvery;
    route::PatternIndex endpoint = kEvery;
  };
  // Of the same scope twice the first one stays. After the last one, `sort` has to come.
  void add(const Scope& scope, Acting acting);
  void sort();
  bool empty() const { return rows_.empty(); }

  // The most exact row for a request to this service and endpoint (kEvery: none that a limit names).
  std::optional<Acting> find(const Scope& scope) const;
  // Which one that is.
  std::optional<Scope> find_scope(const Scope& scope) const;

 private:
  struct Row {
    Scope scope;
    Acting acting;
  };

  const Row* best(const Scope& scope) const;
  const Row* exact(const Scope& scope) const;

  std::vector<Row> rows_;  // ascending
};

// The rows that hold for one request: those of the partner before those of its plan.
struct CallerRows {
  const RowTable* partner = nullptr;  // null: it has none
  const RowTable* plan = nullptr;
  bool known = true;  // false: they could not be looked up in time

  std::optional<RowTable::Acting> find(const RowTable::Scope& scope) const;
};

}  // namespace weir::policy
