// SPDX-License-Identifier: Apache-2.0
//
// What is counted in an account, for people and programs. Thread safety: pure functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weir/config/config.h"
#include "weir/policy/account_directory.h"
#include "weir/store/redis/account_inspector.h"

namespace weir::accounts {

// A counter of the account: of a limit, or, in AccountReport::others, of none.
struct ReportedCounter {
  std::string name;  // of the limit; of none: the slot's own
  bool by_endpoint = false;
  std::string endpoint;  // empty: all that match none
  std::string method;    // empty: all
  bool shadow = false;
  std::string algorithm;  // empty: not known
  std::string numbers;
  struct Count {
    std::int64_t used = 0;
    std::int64_t remaining = 0;
    std::chrono::nanoseconds full_after{};
  };
  std::optional<Count> count;  // absent: not known
  // What a request would be told, without its taking anything.
  struct Asked {
    limit::Cost cost = 0;
    limit::Outcome outcome;  // in nanoseconds
  };
  std::optional<Asked> asked;  // absent: nobody wanted to know, or it is not known
  bool never_used = false;
  bool other_numbers = false;  // it was written with others than those of the configuration
};

struct ReportedGroup {
  std::vector<std::string> per;
  std::vector<ReportedCounter> counters;
};

struct AccountReport {
  std::string key;
  bool exists = false;
  std::optional<std::chrono::milliseconds> life;
  std::vector<ReportedGroup> groups;  // limits that count by the same; of a limit that counts endpoints or methods
                                      // apart, what was used, or one that stands for all
  std::vector<ReportedCounter> others;
};

AccountReport make_report(const config::Config& config, const std::string& key,
                          const std::vector<policy::CountedKind>& kinds, const store::AccountFindings& findings);

// One of them.
ReportedCounter make_counter(const config::Config& config, const policy::CountedSlot& slot,
                             const store::SlotFinding& finding);

std::string to_text(const AccountReport& report);
std::string to_json(const AccountReport& report);
std::string to_json(const ReportedCounter& counter);

}  // namespace weir::accounts
