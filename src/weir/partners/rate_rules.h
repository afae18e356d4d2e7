// SPDX-License-Identifier: Apache-2.0
//
// Which rates and bursts go with which algorithm. Pure functions; "" where nothing is wrong.
#pragma once

#include <optional>
#include <string>

#include "weir/config/config.h"
#include "weir/partners/records.h"

namespace weir::partners {

// What a row's rate admits.
struct Allowance {
  bool unlimited = false;
  std::optional<config::Rate> rate;  // absent: unlimited, or `places`
  std::int64_t places = 0;           // of concurrency
};

struct RateFault {
  std::string field;  // empty: nothing is wrong
  std::string message;
};

// What the text says, whatever the algorithm.
RateFault read_allowance(const std::string& text, Allowance& allowance);

// `queue`: of leaky_bucket. Requires: the rate could be read.
RateFault rate_fault(const LimitRow& row, const Allowance& allowance, config::Algorithm algorithm,
                     std::int64_t queue);

// The most that passes at once. Requires: neither unlimited nor a fault.
std::int64_t capacity_of(const LimitRow& row, const Allowance& allowance);

}  // namespace weir::partners
