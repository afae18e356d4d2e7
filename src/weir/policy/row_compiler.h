// SPDX-License-Identifier: Apache-2.0
//
// From the rows of the database to what the rules of one configuration act by: names become numbers, rates become
// limits. A row that does not fit is left out and named; it touches no other.
// Thread safety: any thread may use it.
#pragma once

#include <span>
#include <vector>

#include "weir/config/config.h"
#include "weir/partners/fault.h"
#include "weir/partners/limit_scope.h"
#include "weir/partners/records.h"
#include "weir/policy/policy.h"
#include "weir/policy/row_table.h"
#include "weir/route/router.h"

namespace weir::policy {

class RowCompiler {
 public:
  // All of one generation; they outlive this object.
  RowCompiler(const config::Config& config, const route::Router& router, const std::vector<LimitInfo>& limits)
      : config_(config), router_(router), limits_(limits), scopes_(partners::scopes_of(config)) {}

  RowTable compile(std::span<const partners::LimitRow> rows, partners::Faults& faults) const;

  // The configured limit with the numbers of the row in it. Requires: the row is without fault.
  static config::Limit numbered(const config::Limit& limit, const partners::LimitRow& row);

 private:
  void add(const partners::LimitRow& row, RowTable& table, partners::Faults& faults) const;

  const config::Config& config_;
  const route::Router& router_;
  const std::vector<LimitInfo>& limits_;
  const partners::Scopes scopes_;
};

}  // namespace weir::policy
