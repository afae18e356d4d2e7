// SPDX-License-Identifier: Apache-2.0
#include "weir/policy/row_table.h"

#include <algorithm>
#include <tuple>

namespace weir::policy {
namespace {

auto order_of(const RowTable::Scope& scope) { return std::tuple(scope.limit, scope.service, scope.endpoint); }

}  // namespace

void RowTable::add(const Scope& scope, Acting acting) {
  acting.endpoint = scope.endpoint;
  rows_.push_back({scope, acting});
}

void RowTable::sort() {
  const auto order = [](const Row& row) { return order_of(row.scope); };
  std::ranges::stable_sort(rows_, {}, order);
  rows_.erase(std::ranges::unique(rows_, {}, order).begin(), rows_.end());
}

std::optional<RowTable::Acting> RowTable::find(const Scope& scope) const {
  const Row* row = best(scope);
  return row == nullptr ? std::nullopt : std::optional(row->acting);
}

std::optional<RowTable::Scope> RowTable::find_scope(const Scope& scope) const {
  const Row* row = best(scope);
  return row == nullptr ? std::nullopt : std::optional(row->scope);
}

const RowTable::Row* RowTable::best(const Scope& scope) const {
  for (const route::ServiceIndex service : {scope.service, kEvery}) {
    for (const route::PatternIndex endpoint : {scope.endpoint, kEvery}) {
      if (const Row* row = exact({scope.limit, service, endpoint})) return row;
      if (scope.endpoint == kEvery) break;
    }
    if (scope.service == kEvery) break;
  }
  return nullptr;
}

const RowTable::Row* RowTable::exact(const Scope& scope) const {
  const auto order = [](const Row& row) { return order_of(row.scope); };
  const auto place = std::ranges::lower_bound(rows_, order_of(scope), {}, order);
  return place != rows_.end() && order(*place) == order_of(scope) ? &*place : nullptr;
}

std::optional<RowTable::Acting> CallerRows::find(const RowTable::Scope& scope) const {
  for (const RowTable* table : {partner, plan}) {
    if (table == nullptr) continue;
    if (const auto found = table->find(scope)) return found;
  }
  return std::nullopt;
}

}  // namespace weir::policy
