// SPDX-License-Identifier: Apache-2.0
//
// For tests: a configuration, a store, lines, and a clock that stands still until a test moves it. A request that is
// not finished goes on running: its leases stay until they run out.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/decide/decider.h"
#include "weir/policy/testing/scene.h"

namespace weir::decide::testing {

constexpr limit::Ticks kSecond = 1'000'000'000;
constexpr limit::Ticks kMinute = 60 * kSecond;

using Fields = std::vector<std::string>;

class Desk {
 public:
  explicit Desk(const config::Config& config) { load(config); }

  void load(const config::Config& config) {
    scenes_.push_back(std::make_unique<policy::testing::Scene>(config, store_));
  }

  const Decision& ask(std::string_view start, const Fields& fields = {}, Lines::Waiter* waiter = nullptr) {
    ask_into(decision_, start, fields, waiter);
    return decision_;
  }
  // For a request that is looked at later.
  std::unique_ptr<Decision> keep(std::string_view start, const Fields& fields = {}, Lines::Waiter* waiter = nullptr) {
    auto decision = std::make_unique<Decision>();
    ask_into(*decision, start, fields, waiter);
    return decision;
  }

  // E.g. "admitted a=3 b=0" or "refused b=0! a=3": outcomes in their order, `!` where a limit refuses.
  std::string show(std::string_view start, const Fields& fields = {}) {
    ask(start, fields);
    return show();
  }
  std::string show() { return (decision_.admitted ? "admitted" : "refused") + show(decision_.outcomes); }
  std::string show_shadow() { return show(decision_.shadow); }

  // The answer to the last request has this status and, if it is not empty, this cost in X-Cost.
  std::string answer(int status, std::string_view cost = {}) {
    const auto field = [&](std::string_view name) {
      return name == "X-Cost" && !cost.empty() ? std::optional(cost) : std::nullopt;
    };
    decider_.settle(decision_, {.status = status, .field = field}, call());
    return show();
  }
  void finish() { decider_.finish(decision_, call()); }

  // How many requests in a row are admitted.
  int drain(std::string_view start, const Fields& fields = {}) {
    int admitted = 0;
    while (ask(start, fields).admitted) ++admitted;
    return admitted;
  }

  const Decision& last() const { return decision_; }
  Decider& decider() { return decider_; }
  Lines& lines() { return lines_; }
  limit::Call call() const { return limit::Call::at(now); }

  limit::Ticks now = 1000 * kSecond;

 private:
  void ask_into(Decision& decision, std::string_view start, const Fields& fields, Lines::Waiter* waiter) {
    limit::Call call = this->call();
    call.lease = {.low = ++requests_, .high = 1};
    decider_.decide(scenes_.back()->charge(start, fields), call, decision, waiter);
  }
  std::string show(const std::vector<LimitOutcome>& outcomes) {
    std::string text;
    for (const LimitOutcome& outcome : outcomes) {
      text +=
          ' ' + std::string(scenes_.back()->name(outcome.limit)) + '=' + std::to_string(outcome.outcome.remaining);
      if (!outcome.outcome.admitted) text += '!';
    }
    return text;
  }

  store::MemoryStore store_{{.max_accounts = 100'000}};
  Lines lines_;
  Decider decider_{store_, lines_};
  std::vector<std::unique_ptr<policy::testing::Scene>> scenes_;  // decisions live in the generation they began in
  std::uint64_t requests_ = 0;
  Decision decision_;
};

}  // namespace weir::decide::testing
