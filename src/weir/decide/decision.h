// SPDX-License-Identifier: Apache-2.0
//
// The decision about one request: admitted or not, which limit binds, and every limit's outcome. Shadow limits are
// reported apart and influence nothing. Thread safety: a plain value, reused from request to request.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "weir/limit/outcome.h"
#include "weir/policy/policy.h"

namespace weir::decide {

// How a decision was reached.
enum class Reached : std::uint8_t {
  kNoLimit,    // no enforced limit applies, or the caller is on the bypass list
  kEvaluated,  // the store answered
  kMissing,    // a limit with `missing: refuse` lacks an attribute
};

struct LimitOutcome {
  policy::LimitIndex limit = 0;
  std::uint8_t variant = 0;
  limit::Outcome outcome;
};

struct Decision {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  bool admitted = true;
  Reached reached = Reached::kNoLimit;
  // Enforced limits whose state is known, the binding one first, then configuration order; limits that are not
  // advertised bind, too. Refused: the limits of the account that refused, the refusing ones with outcome.admitted
  // == false. What was taken from accounts before it is given back, so their states are not in here.
  std::vector<LimitOutcome> outcomes;
  std::vector<LimitOutcome> shadow;  // configuration order within an account; empty after a refusal
  policy::LimitIndex missing = policy::Charges::kNone;  // of kMissing
  std::vector<limit::Outcome> room;                     // for what a store answers

  const LimitOutcome* binding() const { return outcomes.empty() ? nullptr : outcomes.data(); }
  // Of a refusal: the longest wait of the refusing limits; absent: no wait can help. 0 when admitted.
  std::optional<limit::Ticks> retry_after() const;
};

}  // namespace weir::decide
