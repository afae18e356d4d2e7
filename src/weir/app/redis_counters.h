// SPDX-License-Identifier: Apache-2.0
//
// Counters in Redis, as whoever explains a request wants to know them. Thread safety: one thread.
#pragma once

#include "weir/config/config.h"
#include "weir/explain/counters.h"

namespace weir::app {

class RedisCounters final : public explain::Counters {
 public:
  explicit RedisCounters(config::Redis redis) : redis_(std::move(redis)) {}

  Result<std::vector<std::vector<store::Foreseen>>> look(std::span<const explain::AccountQuestion> questions,
                                                         limit::Ticks wall) override;
  explain::SourceFacts source(const Error* failure) const override;

 private:
  config::Redis redis_;
};

}  // namespace weir::app
