// SPDX-License-Identifier: Apache-2.0
#include "weir/policy/row_compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "weir/config/rate.h"
#include "weir/partners/row.h"
#include "weir/partners/validate.h"

namespace weir::policy {
namespace {

using partners::LimitRow;

// The names are known: the row has been found without fault.
route::ServiceIndex service_of(const config::Config& config, const std::string& name) {
  if (name.empty()) return RowTable::kEvery;
  const auto found = std::ranges::find(config.services, name, &config::Service::name);
  return static_cast<route::ServiceIndex>(found - config.services.begin());
}

route::PatternIndex endpoint_of(const route::Router& router, const std::string& text) {
  if (text.empty()) return RowTable::kEvery;
  const auto& patterns = router.patterns();
  return static_cast<route::PatternIndex>(std::ranges::find(patterns, text, pattern_text) - patterns.begin());
}

// Of concurrency the most requests; it has no period.
std::optional<config::Rate> rate_of(const config::Limit& limit, const std::string& text) {
  if (limit.algorithm != config::Algorithm::kConcurrency) {
    const auto rate = config::parse_rate(text);
    return rate ? std::optional(*rate) : std::nullopt;
  }
  std::int64_t most = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), most);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return config::Rate{most, {}};
}

std::string row_text(const LimitRow& row) { return partners::to_text(partners::id_of(row.id())); }

}  // namespace

config::Limit RowCompiler::numbered(const config::Limit& limit, const LimitRow& row) {
  config::Limit numbered = limit;
  numbered.algorithm = row.algorithm.value_or(limit.algorithm);
  numbered.rate = rate_of(numbered, row.rate);
  numbered.burst = row.burst.value_or(numbered.rate ? numbered.rate->count : 0);
  return numbered;
}

RowTable RowCompiler::compile(std::span<const LimitRow> rows, partners::Faults& faults) const {
  RowTable table;
  for (const LimitRow& row : rows) add(row, table, faults);
  table.sort();
  return table;
}

void RowCompiler::add(const LimitRow& row, RowTable& table, partners::Faults& faults) const {
  partners::Faults found = partners::faults_of(row);
  if (found.empty()) found = partners::faults_of(row, scopes_);
  if (!found.empty()) return void(faults.insert(faults.end(), found.begin(), found.end()));
  const auto limit = static_cast<LimitIndex>(std::ranges::find(config_.limits, row.limit, &config::Limit::name) -
                                             config_.limits.begin());
  RowTable::Acting acting{.variant = kUnlimited, .shadow = row.mode == config::Mode::kShadow};
  if (row.rate != "unlimited") {
    const auto variant = limits_[limit].rows->add(numbered(config_.limits[limit], row));
    if (!variant) return faults.push_back({row_text(row), "rate", "these numbers cannot be counted"});
    acting.variant = *variant;
  }
  table.add({limit, service_of(config_, row.service), endpoint_of(router_, row.endpoint)}, acting);
}

}  // namespace weir::policy
