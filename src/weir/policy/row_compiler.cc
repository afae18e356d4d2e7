// SPDX-License-Identifier: Apache-2.0
#include "weir/policy/row_compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "weir/config/rate.h"

namespace weir::policy {
namespace {

using partners::Fault;
using partners::LimitRow;

std::optional<route::ServiceIndex> service_of(const config::Config& config, const std::string& name) {
  if (name.empty()) return RowTable::kEvery;
  const auto found = std::ranges::find(config.services, name, &config::Service::name);
  if (found == config.services.end()) return std::nullopt;
  return static_cast<route::ServiceIndex>(found - config.services.begin());
}

std::optional<route::PatternIndex> endpoint_of(const route::Router& router, const std::string& text) {
  if (text.empty()) return RowTable::kEvery;
  const auto& patterns = router.patterns();
  const auto found = std::ranges::find(patterns, text, pattern_text);
  if (found == patterns.end()) return std::nullopt;
  return static_cast<route::PatternIndex>(found - patterns.begin());
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

Fault fault_of(const LimitRow& row, std::string field, std::string message) {
  return {partners::row_text(row), std::move(field), std::move(message)};
}

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
  return table;
}

void RowCompiler::add(const LimitRow& row, RowTable& table, partners::Faults& faults) const {
  const auto found = std::ranges::find(config_.limits, row.limit, &config::Limit::name);
  if (found == config_.limits.end() || !found->from_policies) {
    return faults.push_back(fault_of(row, "limit", "no limit of this name takes its rates from the policies"));
  }
  const auto limit = static_cast<LimitIndex>(found - config_.limits.begin());
  const auto service = service_of(config_, row.service);
  const auto endpoint = endpoint_of(router_, row.endpoint);
  if (!service) return faults.push_back(fault_of(row, "service", "there is no such service"));
  if (!endpoint) return faults.push_back(fault_of(row, "endpoint", "no limit names this endpoint"));
  RowTable::Acting acting{.variant = kUnlimited, .shadow = row.mode == config::Mode::kShadow};
  if (row.rate != "unlimited") {
    const auto variant = limits_[limit].rows->add(numbered(*found, row));
    if (!variant) return faults.push_back(fault_of(row, "rate", "the limit cannot count by these numbers"));
    acting.variant = *variant;
  }
  table.add({limit, *service, *endpoint}, acting);
}

}  // namespace weir::policy
