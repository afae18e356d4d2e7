// SPDX-License-Identifier: Apache-2.0
#include "weir/policy/row_numbers.h"

#include <algorithm>
#include <chrono>

#include "weir/config/rate.h"
#include "weir/policy/limit_builder.h"
#include "weir/policy/local_share.h"

namespace weir::policy {
namespace {

// A limit as the configuration has it, with numbers that hold whatever was counted before the sort changed, until the
// numbers of a row come.
config::Rate ample_rate(const config::Limit& limit) {
  const bool is_log = limit.algorithm == config::Algorithm::kSlidingLog;
  const std::int64_t count = is_log ? config::kMostLogged : 1'000'000;
  if (limit.algorithm == config::Algorithm::kCalendar) return {count, {}, config::CivilUnit::kYear};
  return {count, config::kLongestPeriod};
}

limit::Limit sort_of(const config::Limit& limit) {
  const config::Rate rate = ample_rate(limit);
  const auto built = build_limit(limit, rate, rate.count);
  return built ? *built : limit::Limit(*limit::TokenBucket::create({.count = 1, .period = 1'000'000'000}));
}

}  // namespace

RowNumbers::RowNumbers(const config::Limit& limit, std::uint32_t gateways)
    : gateways_(gateways),
      shared_(sort_of(limit)),
      shares_(share_of(sort_of(limit), std::max(gateways, std::uint32_t{1}))),
      rates_{ample_rate(limit)} {}

std::optional<VariantIndex> RowNumbers::add(const config::Limit& numbered) {
  if (!numbered.rate) return std::nullopt;
  const config::Rate& rate = *numbered.rate;
  const Said said{numbered.algorithm, rate.count, rate.period.count(), rate.civil, numbered.burst};
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(said);
  if (known != known_.end()) return known->second;
  const auto built = build_limit(numbered, rate, numbered.burst);
  if (!built || !shared_.takes(*built)) return std::nullopt;
  const auto number = shared_.add(*built);
  if (!number) return std::nullopt;
  if (gateways_ > 0) shares_.add(share_of(*built, gateways_));
  rates_.push_back(rate);
  known_.emplace(said, *number);
  return number;
}

config::Rate RowNumbers::rate(VariantIndex variant) const {
  const std::lock_guard lock(mutex_);
  return rates_[variant];
}

std::shared_ptr<RowNumbers> RowNumbersShelf::of(const config::Limit& limit, std::uint32_t gateways) {
  auto made = std::make_shared<RowNumbers>(limit, gateways);
  for (const Kept& kept : kept_) {
    const bool alike =
        kept.name == limit.name && kept.numbers->gateways() == gateways && kept.numbers->limit(0) == made->limit(0);
    if (alike) return kept.numbers;
  }
  kept_.push_back({limit.name, made});
  return made;
}

}  // namespace weir::policy
