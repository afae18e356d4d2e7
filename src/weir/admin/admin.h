// SPDX-License-Identifier: Apache-2.0
//
// The operators' side: health, metrics and the admin API on a listener and a thread of their own, so that they answer
// whatever the data plane is doing. Never limited, never counted as traffic. Thread safety: construct and destroy
// from one thread; the sources are called on the admin thread, `Sources::policies.config` also on that of the
// database.
#pragma once

#include <prometheus/metric_family.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "weir/accounts/accounts.h"
#include "weir/admin/account_operations.h"
#include "weir/admin/operations.h"
#include "weir/admin/policy_desk.h"
#include "weir/base/clock.h"
#include "weir/base/result.h"
#include "weir/io/event_loop.h"
#include "weir/server/server.h"

namespace weir::admin {

// What the admin listener asks the rest of the process.
struct Sources {
  std::function<bool()> alive;     // every event loop turns
  std::function<bool()> draining;  // the process is about to end
  std::string store;               // where it is counted: "memory", "redis"
  std::function<std::vector<prometheus::MetricFamily>()> metrics;
  RefusedSince refused;
  // Accounts for the admin's loop, which outlives them. They begin and end in its thread.
  std::function<std::unique_ptr<accounts::Accounts>(io::EventLoop&)> open_accounts;
  std::optional<PolicyDesk::Sources> policies;  // absent: there are none
};

class Admin {
 public:
  // `token`: required as `Authorization: Bearer …` by everything but health; absent: loopback or a Unix socket only.
  // The clock outlives it.
  static Result<std::unique_ptr<Admin>> start(const io::SocketAddress& address, std::optional<std::string> token,
                                              Sources sources, const Clock& clock);
  ~Admin();

  std::string address() const { return server_.address().to_string(); }
  // From any thread: another one holds from now on.
  void set_token(std::optional<std::string> token);

 private:
  Admin(std::optional<std::string> token, Sources sources, const Clock& clock);
  io::Task<server::Answer> answer(const server::Request& request) const;
  std::optional<server::Answer> answer_health(const http::RequestHead& head) const;
  // Of those who may not ask anything else.
  std::optional<server::Answer> refusal(const http::RequestHead& head) const;
  server::Answer ready(bool verbose) const;
  bool authorized(const http::RequestHead& head) const;
  void add_operations(const Clock& clock);

  mutable std::mutex token_mutex_;
  std::optional<std::string> token_;
  Sources sources_;
  io::EventLoop loop_;
  Operations operations_;
  std::optional<PolicyDesk> policies_;
  std::unique_ptr<accounts::Accounts> accounts_;
  server::Server server_;
  std::thread thread_;
};

}  // namespace weir::admin
