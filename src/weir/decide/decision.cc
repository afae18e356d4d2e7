// SPDX-License-Identifier: Apache-2.0
#include "weir/decide/decision.h"

#include <algorithm>

#include "weir/decide/order.h"

namespace weir::decide {
namespace {

// Whether `a` binds rather than `b`: of refusing limits the one that no wait helps, then the one with the longest
// wait; of admitting ones the one with the least remaining, then the one that takes longest to be full. On a tie the
// narrowest, and otherwise neither, so that configuration order decides.
bool binds_before(const LimitOutcome& a, const LimitOutcome& b) {
  const limit::Outcome& x = a.outcome;
  const limit::Outcome& y = b.outcome;
  if (x.admitted != y.admitted) return !x.admitted;
  if (x.admitted) {
    if (x.remaining != y.remaining) return x.remaining < y.remaining;
    if (x.reset_after != y.reset_after) return x.reset_after > y.reset_after;
  } else if (x.retry_after != y.retry_after) {
    if (!x.retry_after || !y.retry_after) return !x.retry_after;
    return *x.retry_after > *y.retry_after;
  }
  return a.breadth < b.breadth;
}

}  // namespace

void order_outcomes(std::vector<LimitOutcome>& outcomes) {
  std::ranges::sort(outcomes, {}, &LimitOutcome::limit);
  const auto binding = std::ranges::min_element(outcomes, binds_before);
  if (binding != outcomes.end()) std::rotate(outcomes.begin(), binding, binding + 1);
}

std::optional<limit::Ticks> Decision::retry_after() const {
  if (admitted) return 0;
  return outcomes.empty() ? std::nullopt : outcomes.front().outcome.retry_after;
}

limit::Ticks Decision::starts_at() const {
  limit::Ticks latest = decided_at;
  for (const Held& one : held) {
    if (one.place) latest = std::max(latest, one.place->starts_at());
    if (one.shared && !one.shadow && one.rule().holds<limit::LeakyBucket>()) latest = std::max(latest, one.starts_at);
  }
  return latest;
}

void Decision::clear() {
  admitted = true;
  reached = Reached::kNoLimit;
  outcomes.clear();
  shadow.clear();
  missing = policy::Charges::kNone;
  lease = {};
  held.clear();
  renewal = 0;
  decided_at = wall = 0;
  settled = false;
}

}  // namespace weir::decide
