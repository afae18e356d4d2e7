// SPDX-License-Identifier: Apache-2.0
//
// Who has been refused lately, by which limit: for the people who ask. Memory is bounded: of eight accounts
// that share a place by their hash, whoever was refused longest ago gives way. Thread safety: any thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "weir/accounts/refused_account.h"
#include "weir/base/clock.h"
#include "weir/base/fingerprint.h"

namespace weir::gateway {

using accounts::RefusedAccount;

class RecentRefusals {
 public:
  // A refusal. `who` tells the account of a limit in one configuration from all others.
  struct Refusal {
    Fingerprint who;
    bool shadow = false;
    WallTime at{};
    std::optional<WallTime> until;
  };
  struct Names {
    std::string limit;
    std::string account;
  };
  // Counts it. False: the account is not known yet, and has to be added.
  bool note(const Refusal& refusal);
  // With this refusal as the first one.
  void add(const Refusal& refusal, Names names);

  // Adds those that were refused at `since` or later.
  void add_to(std::vector<RefusedAccount>& all, WallTime since) const;

 private:
  static constexpr std::size_t kWays = 8;
  static constexpr std::size_t kSets = 1024;

  struct Entry {
    Fingerprint who;
    RefusedAccount account;
  };
  using Set = std::array<Entry, kWays>;

  mutable std::mutex mutex_;
  std::unique_ptr<std::array<Set, kSets>> sets_;  // null: nobody was refused yet
};

// One entry for each account and limit, whoever refused: those refused last come first.
std::vector<RefusedAccount> merged(std::vector<RefusedAccount> all);

}  // namespace weir::gateway
