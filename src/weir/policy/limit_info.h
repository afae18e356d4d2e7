// SPDX-License-Identifier: Apache-2.0
//
// A limit as the parts behind the policy know it. Thread safety: immutable after compilation.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/config/config.h"
#include "weir/limit/limit.h"
#include "weir/policy/row_numbers.h"
#include "weir/policy/rule.h"

namespace weir::policy {

// What an answer changes about a charge: whether it counts at all, or what it cost in truth.
struct Settlement {
  config::CountedAnswers counted;
  std::string field;    // of the answer, with the cost; empty: none
  limit::Cost max = 0;  // the largest cost that is believed

  bool needed() const { return !field.empty() || counted.rule != config::CountedAnswers::Rule::kAll; }
  // The true cost, given what was taken before the answer. `told`: the field's value, if it was there.
  limit::Cost cost(limit::Cost taken, int status, std::optional<std::string_view> told) const;
};

// What the parts behind the policy need to know about a limit.
struct LimitInfo {
  std::string name;
  config::Mode mode = config::Mode::kEnforce;
  bool advertise = true;
  config::StoreFailure on_store_failure = config::StoreFailure::kOpen;
  std::vector<limit::Limit> variants;       // `rate` unless it is unlimited, then the limited entries of `by`;
                                            // equal ones once
  std::vector<config::Rate> variant_rates;  // the same, as configured; of concurrency, the count is the most
  Settlement settlement{};
  std::shared_ptr<RowNumbers> rows = nullptr;  // instead of the variants: with `rate: policies`

  const limit::Limit& variant(VariantIndex index) const { return rows ? rows->limit(index) : variants[index]; }
  config::Rate rate(VariantIndex index) const { return rows ? rows->rate(index) : variant_rates[index]; }
};

}  // namespace weir::policy
