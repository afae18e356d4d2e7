// SPDX-License-Identifier: Apache-2.0
//
// A decision that is being made. Internal to this folder.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weir/decide/decider.h"

namespace weir::decide {

struct Decider::Asking {
  const policy::Charges& charges;
  const limit::Call& call;
  Decision& decision;
  Lines::Waiter* waiter;
};

// What an account has admitted, as it would be given back.
struct Decider::Taken {
  const policy::AccountCharges* account;
  bool shared;
  std::vector<store::Adjustment> adjustments;
};

inline std::span<const store::Charge> run_of(const policy::Charges& charges, const policy::AccountCharges& account) {
  return std::span(charges.charges).subspan(account.first, account.count);
}

inline void append_outcomes(const policy::Charges& charges, const policy::AccountCharges& account,
                            const std::vector<limit::Outcome>& outcomes, std::vector<LimitOutcome>& to) {
  for (std::uint32_t at = 0; at < account.count; ++at) {
    const policy::ChargedLimit& charged = charges.limits[account.first + at];
    to.push_back({charged.limit, charged.variant, charged.breadth, outcomes[at]});
  }
}

inline bool stands_in_line(const policy::ChargedLimit& charged) {
  return charged.info != nullptr && charged.info->variant(charged.variant).holds<limit::LeakyBucket>();
}

inline limit::Call call_for(limit::Call call, const policy::AccountCharges& account) {
  call.phase = account.phase;
  return call;
}

}  // namespace weir::decide
