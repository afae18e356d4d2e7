// SPDX-License-Identifier: Apache-2.0
//
// Where the counters of an account are, in the configuration that is in force. Thread safety: plain values.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weir/accounts/accounts.h"
#include "weir/policy/account_directory.h"
#include "weir/policy/policy.h"
#include "weir/store/redis/account_text.h"

namespace weir::accounts {

// A configuration in force, as long as somebody holds `owner`.
struct InForce {
  std::shared_ptr<const void> owner;
  const config::Config* config = nullptr;
  const policy::Policy* policy = nullptr;
};

// What is asked whenever an account is looked at.
struct Sources {
  std::function<InForce()> in_force;
  std::function<limit::Call()> now;
};

// The kinds of accounts that can have so many values, in the order of the configuration.
struct Kinds {
  std::vector<policy::CountedKind> kinds;
  std::vector<std::size_t> numbers;  // their indices in Policy::kinds()
};
Kinds kinds_of(const InForce& in_force, std::size_t values);

// A slot of one of the kinds.
struct Place {
  std::size_t kind = 0;
  std::size_t slot = 0;
};
// The only counter of this name that is used. kInvalid: there is none, or several; or its limit counts what runs, or
// remembers each request, so that there is nothing that could be given back to.
Result<Place> find_returnable(const config::Config& config, const std::vector<policy::CountedKind>& kinds,
                              const store::AccountFindings& findings, const CounterId& id);

// Fails for what no account can be called.
Result<store::AccountText> account_text(std::string_view prefix, const std::string& text);

}  // namespace weir::accounts
