// SPDX-License-Identifier: Apache-2.0
//
// A limit: one of the algorithms with its numbers, validated once so that no step can overflow. The alternatives of
// the variant share one set of operations; see token_bucket.h for their contract.
// Thread safety: an immutable value.
#pragma once

#include <algorithm>
#include <span>
#include <type_traits>
#include <variant>

#include "weir/limit/token_bucket.h"

namespace weir::limit {

class Limit {
 public:
  Limit(const TokenBucket& bucket) : algorithm_(bucket) {}  // NOLINT: a bucket is a limit

  int state_words() const {
    return std::visit([](const auto& algorithm) { return algorithm.state_words(); }, algorithm_);
  }

  [[gnu::always_inline]] void step(std::span<std::int64_t> state, Ticks now, Cost cost, Outcome& outcome) const {
    // The common alternative first: a visit costs as much as the step.
    if (const auto* bucket = std::get_if<TokenBucket>(&algorithm_)) [[likely]] {
      return bucket->step(state, now, cost, outcome);
    }
    std::visit([&](const auto& algorithm) { algorithm.step(state, now, cost, outcome); }, algorithm_);
  }
  Outcome step(std::span<std::int64_t> state, Ticks now, Cost cost) const {
    Outcome outcome;
    step(state, now, cost, outcome);
    return outcome;
  }

  void give_back(std::span<std::int64_t> state, Ticks now, Cost cost) const {
    std::visit([&](const auto& algorithm) { algorithm.give_back(state, now, cost); }, algorithm_);
  }

  bool is_initial(std::span<const std::int64_t> state, Ticks now) const {
    return std::visit([&](const auto& algorithm) { return algorithm.is_initial(state, now); }, algorithm_);
  }

  // As TokenBucket::carry; between different algorithms the new state starts afresh.
  void carry(const Limit& from, std::span<const std::int64_t> old_state, std::span<std::int64_t> state,
             Ticks now) const {
    const auto convert = [&](const auto& to, const auto& old) {
      if constexpr (std::is_same_v<decltype(to), decltype(old)>) {
        to.carry(old, old_state, state, now);
      } else {
        std::ranges::fill(state, 0);
      }
    };
    std::visit(convert, algorithm_, from.algorithm_);
  }

  Cost capacity() const {
    return std::visit([](const auto& algorithm) { return algorithm.numbers().capacity; }, algorithm_);
  }

  bool operator==(const Limit&) const = default;

 private:
  std::variant<TokenBucket> algorithm_;
};

}  // namespace weir::limit
