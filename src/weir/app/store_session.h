// SPDX-License-Identifier: Apache-2.0
//
// The shared store of a configuration for the time of one command: no thread of its own, the caller runs the loop
// until its task is done. Thread safety: one thread.
#pragma once

#include <chrono>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weir/base/clock.h"
#include "weir/base/result.h"
#include "weir/config/config.h"
#include "weir/gateway/resolver.h"
#include "weir/gateway/shared_store.h"
#include "weir/io/event_loop.h"
#include "weir/io/task.h"
#include "weir/limit/outcome.h"
#include "weir/policy/account_directory.h"
#include "weir/store/redis/account_inspector.h"
#include "weir/store/redis/account_text.h"

namespace weir::app {

class StoreSession {
 public:
  // A person waits longer than a request.
  static constexpr nanoseconds kBudget = std::chrono::seconds(3);
  static constexpr nanoseconds kTelling = std::chrono::milliseconds(500);

  static Result<std::unique_ptr<StoreSession>> open(const config::Redis& redis);

  store::AccountInspector& inspector() { return inspector_; }
  // Tells whoever listens on this channel; as far as it can be told within kTelling.
  void publish(const std::string& channel, const std::string& message);
  limit::Call call_now() const { return {.now = 0, .wall = clock_.wall().time_since_epoch().count()}; }

  // Runs the loop until the task is done. Once.
  template <class T>
  T wait(io::Task<T> task) {
    std::optional<T> result;
    loop_.post([&] {
      access_.client.start();
      finish(task, result, loop_);
    });
    loop_.run();
    return *std::move(result);
  }

 private:
  StoreSession(std::unique_ptr<gateway::Resolver> resolver, gateway::SharedStoreSettings settings)
      : resolver_(std::move(resolver)), settings_(std::move(settings)) {}

  template <class T>
  static io::Detached finish(io::Task<T>& task, std::optional<T>& result, io::EventLoop& loop) {
    T value = co_await task;
    result.emplace(std::move(value));
    loop.stop();
  }

  SystemClock clock_;
  std::unique_ptr<gateway::Resolver> resolver_;
  gateway::SharedStoreSettings settings_;
  io::EventLoop loop_{clock_};
  gateway::SharedStoreAccess access_{loop_, settings_};
  store::AccountInspector inspector_{access_.client, access_.store, settings_.store.budget, settings_.store.clock};
};

// What a command about an account begins with.
struct AccountQuestion {
  config::Config config;
  store::AccountText account;
  std::vector<policy::CountedKind> kinds;        // whose accounts can have this name
  std::vector<const store::RedisKind*> layouts;  // of these
  std::unique_ptr<StoreSession> session;
};
// Fails with the process's exit code, when what is wrong has been said on standard error.
std::expected<AccountQuestion, int> ask_about(const std::string& file, const std::string& account);

// The servers that the configuration names, without users and passwords.
std::string servers_text(const config::Redis& redis);

// Says on standard error that the store failed, and which.
void print_failure(const config::Redis& redis, const Error& error);

}  // namespace weir::app
