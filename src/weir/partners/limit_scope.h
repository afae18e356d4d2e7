// SPDX-License-Identifier: Apache-2.0
//
// What a configuration says of its limits, as far as rows in the database have to fit it. Thread safety: plain
// values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weir/config/config.h"

namespace weir::partners {

struct LimitScope {
  std::string name;
  bool from_policies = true;  // it says `rate: policies`
  config::Algorithm algorithm = config::Algorithm::kTokenBucket;
  std::int64_t queue = 0;              // of leaky_bucket
  bool per_service = false;            // `per` names the service
  std::vector<std::string> services;   // on which it acts
  std::vector<std::string> endpoints;  // that it tells apart: the patterns of `match`, or where `per` names the
                                       // endpoint without `match`, those of all enforced limits
  std::int64_t cost = 1;               // of a request that says nothing

  bool operator==(const LimitScope&) const = default;
};

// All limits of a configuration, and all its services.
struct Scopes {
  std::vector<LimitScope> limits;
  std::vector<std::string> services;

  bool operator==(const Scopes&) const = default;
};

Scopes scopes_of(const config::Config& config);

}  // namespace weir::partners
