// SPDX-License-Identifier: Apache-2.0
//
// Counters in the memory of a running gateway, asked for at its admin listener. Thread safety: one thread.
#pragma once

#include <optional>
#include <string>

#include "weir/config/config.h"
#include "weir/explain/counters.h"
#include "weir/io/http_client.h"

namespace weir::explain {

class GatewayCounters final : public Counters {
 public:
  // `admin`: absent: the gateway has no admin listener.
  explicit GatewayCounters(std::optional<config::Admin> admin) : admin_(std::move(admin)) {}

  Result<std::vector<std::vector<store::Foreseen>>> look(std::span<const AccountQuestion> questions,
                                                         limit::Ticks wall) override;
  bool is_exact() const override { return estimated_.empty(); }
  SourceFacts source(const Error* failure) const override;

 private:
  Result<std::string> ask(const std::string& account, limit::Cost cost);

  std::optional<config::Admin> admin_;
  io::HttpClient client_;
  std::string estimated_;  // the limit that was counted by other numbers; empty: none
};

// What the report of an account (accounts/account_report.h, as JSON) says of a counter. `limit`: by which the request
// would be counted. Absent: it cannot be read, or does not say.
struct CounterQuestion {
  const policy::Finding& finding;
  const std::string& name;
  const limit::Limit& limit;
  std::string algorithm{};  // where it comes with the numbers, from a row; as accounts/limit_text.h has it
  std::string numbers{};    // as well
  limit::Ticks wall = 0;
  std::uint64_t phase = 0;
};
struct CounterAnswer {
  store::Foreseen foreseen;
  bool other_numbers = false;  // it was counted last by these
};
std::optional<CounterAnswer> read_counter(const std::string& report, const CounterQuestion& question);

}  // namespace weir::explain
