// SPDX-License-Identifier: Apache-2.0
//
// The gateway as a whole: workers, the store they share, the generation in force; start, reload, drain, figures.
// Thread safety: control functions (start, reload, drain, sweep) from one thread; figures, health, and what operators
// ask from any.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "weir/base/clock.h"
#include "weir/base/result.h"
#include "weir/config/config.h"
#include "weir/gateway/access_log.h"
#include "weir/gateway/generation.h"
#include "weir/gateway/policies.h"
#include "weir/gateway/resolver.h"
#include "weir/gateway/shared_store.h"
#include "weir/gateway/worker.h"
#include "weir/store/memory/memory_store.h"

namespace weir::gateway {

class Gateway {
 public:
  // Binds every listener and starts the workers; nothing is left open when it fails.
  static Result<std::unique_ptr<Gateway>> start(config::Config config, const Clock& clock, io::SocketCalls calls);
  ~Gateway();

  // Puts a configuration in force: listeners that are new are opened first (when one fails, everything stays as it
  // is), then all workers change over, then listeners that are gone are closed. Counters of unchanged limits stay.
  Result<void> reload(config::Config config);
  void reload_failed() { reloads_failed_.fetch_add(1); }

  // No new connections; requests under way finish. Idle connections end within a second.
  void drain();
  bool drained() const;
  // Ends what is left; returns how many requests were cut.
  std::size_t cut();

  void reopen_log();
  // Sweeps a part of the store. Meant to be called about ten times a second.
  void sweep();

  const config::Config& config() const { return generation_->config; }
  std::vector<std::string> addresses() const;  // that are listened on
  std::string io_text() const;                 // how the workers talk to the kernel
  std::uint64_t reloads() const { return reloads_done_.load(); }

  // True while every worker's loop has turned within the last five seconds.
  bool alive() const;
  std::vector<prometheus::MetricFamily> metrics() const;

  // The generation in force.
  std::shared_ptr<const Generation> generation() const;
  store::MemoryStore& store() { return store_; }
  limit::Call call_now() const;
  // Null: every counter is in memory.
  const SharedStoreSettings* shared_store() const { return shared_ ? &*shared_ : nullptr; }
  // Who has been refused since then, by this process.
  std::vector<RefusedAccount> refused_since(WallTime since) const;
  // Somebody has changed the policies: all gateways are told.
  void announce_policies();

 private:
  struct Listener {
    std::string key;  // the address as configured
    io::SocketAddress address;
    bool is_unix = false;
  };

  Gateway(const Clock& clock, config::Config config);
  Result<void> open_listeners(const config::Config& config, std::vector<Listener>& opened,
                              std::vector<std::vector<io::Descriptor>>& sockets) const;
  void hand_out(const std::vector<Listener>& listeners, std::vector<std::vector<io::Descriptor>> sockets);
  Foundations foundations() {
    return {.row_numbers = row_numbers_, .store = store_, .resolver = resolver_, .keys = keys_};
  }
  void on_every_worker(const std::function<void(Worker&)>& work);

  const Clock& clock_;
  Instant store_epoch_;
  policy::RowNumbersShelf row_numbers_;
  store::MemoryStore store_;
  decide::Lines lines_;
  Resolver resolver_;
  KeyRefresher keys_;
  std::optional<SharedStoreSettings> shared_;
  std::unique_ptr<lookup::Directory> policies_;  // null: there are none
  ConnectionBudget budget_;
  std::unique_ptr<AccessLog> log_;
  std::shared_ptr<const Generation> generation_;
  mutable std::mutex generation_mutex_;  // for those who ask from other threads
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Listener> listeners_;
  std::atomic<std::uint64_t> reloads_done_{0};
  std::atomic<std::uint64_t> reloads_failed_{0};
  std::atomic<std::int64_t> last_reload_{0};  // Unix time, ns
};

}  // namespace weir::gateway
