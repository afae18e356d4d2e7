// SPDX-License-Identifier: Apache-2.0
//
// The numbers that rows of the policies give to one limit of the configuration (`rate: policies`). Each is a limit of
// its own, numbered when it is first met; in memory and in a shared store the same number means the same.
// Records of the store name these numbers, so they are kept as long as it: RowNumbersShelf outlives the store.
// Thread safety: any thread may use them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "weir/config/config.h"
#include "weir/limit/limit.h"
#include "weir/policy/rule.h"
#include "weir/store/limit_book.h"

namespace weir::policy {

class RowNumbers {
 public:
  // `gateways`: how many share the store, each of which holds its part while that is away; 0: there is none, so all
  // is counted in memory. Requires: limit.from_policies.
  RowNumbers(const config::Limit& limit, std::uint32_t gateways);

  // The variant that counts by the numbers of `numbered`, which is the configured limit with those of a row in it.
  // Absent: numbers that cannot be counted, or an algorithm that this limit's records cannot hold.
  std::optional<VariantIndex> add(const config::Limit& numbered);

  // Requires: add gave the number.
  const limit::Limit& limit(VariantIndex variant) const { return shared_[variant]; }
  config::Rate rate(VariantIndex variant) const;  // as written; of concurrency, the count is the most

  const store::LimitBook& shared() const { return shared_; }
  const store::LimitBook& in_memory() const { return gateways_ == 0 ? shared_ : shares_; }
  std::uint32_t gateways() const { return gateways_; }

 private:
  // What a row can say; the rest is the limit's own.
  using Said = std::tuple<config::Algorithm, std::int64_t, std::int64_t, config::CivilUnit, std::int64_t>;

  std::uint32_t gateways_;
  store::LimitBook shared_;
  store::LimitBook shares_;  // parallel
  mutable std::mutex mutex_;
  std::map<Said, VariantIndex> known_;
  std::vector<config::Rate> rates_;  // parallel to the books
};

// The numbers of all limits that ever had rows. Thread safety: one thread.
class RowNumbersShelf {
 public:
  // Those that were there before, if the limit has the same name and still counts in the same way.
  std::shared_ptr<RowNumbers> of(const config::Limit& limit, std::uint32_t gateways);

 private:
  struct Kept {
    std::string name;
    std::shared_ptr<RowNumbers> numbers;
  };

  std::vector<Kept> kept_;
};

}  // namespace weir::policy
