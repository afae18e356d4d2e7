// SPDX-License-Identifier: Apache-2.0
//
// Which kinds of accounts a configuration has in a shared store, and which limit each of their slots counts for: for
// whoever looks at accounts from outside (weir inspect). Thread safety: plain values.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "weir/config/config.h"
#include "weir/policy/row_numbers.h"
#include "weir/policy/rule.h"
#include "weir/store/redis/redis_kind.h"

namespace weir::policy {

// What one slot of a kind counts.
struct CountedSlot {
  LimitIndex limit = 0;  // in Config::limits
  bool by_endpoint = false;
  std::string endpoint;  // with by_endpoint, the pattern; empty: all requests that match none
  std::string method;    // empty: of all methods
  bool shadow = false;
  std::vector<limit::Limit> variants;      // by which it may count; none if the numbers come with the caller's row
  std::vector<config::Rate> rates;         // the same, as configured; of concurrency, the count is the most
  std::shared_ptr<const RowNumbers> rows;  // instead: with `rate: policies`
};

struct CountedKind {
  std::vector<std::string> per;  // whose values make the account's name, e.g. "partner", "header:X-Tenant"
  bool jittered = false;         // some window begins at the account's phase
  store::RedisKind kind;
  std::vector<CountedSlot> slots;  // as the kind has them
};

// In the order of the configuration. Limits that limit nobody are in none.
std::vector<CountedKind> account_directory(const config::Config& config);

}  // namespace weir::policy
