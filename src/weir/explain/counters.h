// SPDX-License-Identifier: Apache-2.0
//
// Whoever knows what is counted now: Redis, or the gateway that counts in its memory. Nothing is taken by asking.
// Thread safety: one thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weir/base/result.h"
#include "weir/explain/explanation.h"
#include "weir/policy/finding.h"
#include "weir/policy/policy.h"
#include "weir/store/redis/foresight.h"

namespace weir::explain {

// An account of the request, and the charges of it.
struct AccountQuestion {
  const policy::AccountCharges& account;
  std::string_view name;  // of a shared store; empty: there is none
  std::span<const store::Charge> charges;
  std::vector<const policy::Finding*> findings;  // parallel
  std::vector<const policy::LimitInfo*> limits;  // parallel
};

class Counters {
 public:
  virtual ~Counters() = default;

  // In the order of the questions and their charges, in nanoseconds. Fails when it is not known what is counted.
  // `wall`: now, since 1970.
  virtual Result<std::vector<std::vector<store::Foreseen>>> look(std::span<const AccountQuestion> questions,
                                                                 limit::Ticks wall) = 0;
  // Whether the answer follows from what look() has told. Not if something was counted last by other numbers, and
  // will be turned into those of the request when it is counted again.
  virtual bool is_exact() const { return true; }
  // Who was asked, and of a failure what that means.
  virtual SourceFacts source(const Error* failure) const = 0;
};

// What a counter that was never used says.
store::Foreseen fresh(const limit::Limit& limit, limit::Ticks wall, std::uint64_t phase, limit::Cost cost);

}  // namespace weir::explain
