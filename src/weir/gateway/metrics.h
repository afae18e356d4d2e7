// SPDX-License-Identifier: Apache-2.0
//
// What a gateway counts. Every worker has counters of its own that it changes without locks; a scrape adds them up.
// Label sets are bounded: services, limits and upstreams of the configuration, status codes, fixed words.
// Thread safety: counting on the worker's thread, finding counters and collecting from any thread.
#pragma once

#include <prometheus/metric_family.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "weir/base/counter.h"
#include "weir/decide/decision.h"
#include "weir/gateway/key_refresher.h"
#include "weir/gateway/lookup_counters.h"
#include "weir/gateway/recent_refusals.h"
#include "weir/gateway/shared_store.h"
#include "weir/identity/memory.h"
#include "weir/lookup/directory.h"

namespace weir::gateway {

class Histogram {
 public:
  // Upper bounds in seconds; the last bucket is +Inf.
  static constexpr std::array<double, 13> kBounds{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                  0.1,    0.25,  0.5,    1.0,   2.5,  10.0};
  void observe(std::chrono::nanoseconds value);
  void add_to(prometheus::ClientMetric::Histogram& sum) const;

 private:
  std::array<OwnedCounter, kBounds.size() + 1> buckets_;
  OwnedCounter sum_ns_;
};

struct LimitCounters {
  OwnedCounter admitted;
  OwnedCounter delayed;  // of those, had to wait in line
  OwnedCounter refused;
  OwnedCounter never;  // refused, and no wait can help
  OwnedCounter shadow_refused;
  OwnedCounter skipped;
};

// Requests of one service by status code; a code costs memory once it was seen.
class ServiceCounters {
 public:
  ~ServiceCounters();
  void record(int status, std::chrono::nanoseconds duration);
  const Histogram* of_code(int status) const;

 private:
  static constexpr int kFirst = 100;
  static constexpr int kCodes = 900;
  std::array<std::atomic<Histogram*>, kCodes> codes_{};
};

struct UpstreamCounters {
  OwnedCounter connects;
  OwnedCounter connect_failures;
  OwnedCounter closed;  // a connection ended before an answer began
  OwnedCounter broken_answers;
  OwnedCounter timeouts;
  OwnedCounter retries;
  OwnedCounter overloaded;
};

class WorkerMetrics {
 public:
  // Found or made; stays valid and keeps counting across reloads. The empty name is "none".
  ServiceCounters& service(std::string_view name);
  LimitCounters& limit(std::string_view name);
  UpstreamCounters& upstream(std::string_view name);
  OwnedCounter& rejected(std::string_view code);  // messages refused before they were a request

  // Decisions, by how they were reached.
  OwnedCounter& reached(decide::Reached how) { return reached_[static_cast<std::size_t>(how)]; }

  RecentRefusals refusals;
  identity::Counters credentials;
  LookupCounters lookups;

  OwnedCounter client_connections;  // open now
  OwnedCounter accepted_connections;
  OwnedCounter upstream_connections;  // open now
  OwnedCounter aborted_by_client;
  OwnedCounter waiting;      // in line, now
  OwnedCounter lost_leases;  // that had run out when they were to be renewed
  OwnedCounter bytes_received;
  OwnedCounter bytes_sent;
  Histogram memory_decisions;  // a sample of them
  Histogram shared_decisions;  // all, in seconds of waiting

 private:
  friend class MetricsReport;
  template <class T>
  using ByName = std::map<std::string, std::unique_ptr<T>, std::less<>>;
  template <class T>
  T& find(ByName<T>& map, std::string_view name);

  std::array<OwnedCounter, decide::kReachedWords.size()> reached_;
  mutable std::mutex mutex_;  // guards the maps, not what they hold
  ByName<ServiceCounters> services_;
  ByName<LimitCounters> limits_;
  ByName<UpstreamCounters> upstreams_;
  ByName<OwnedCounter> rejected_;
};

// What is not counted by a worker.
struct ProcessFigures {
  std::string version;
  std::uint64_t accounts = 0;
  std::uint64_t account_bytes = 0;
  std::uint64_t evictions = 0;
  std::uint64_t reloads_done = 0;
  std::uint64_t reloads_failed = 0;
  double last_reload_seconds = 0;  // Unix time
  std::uint64_t access_log_written = 0;
  std::uint64_t access_log_dropped = 0;
  std::vector<KeyRefresher::Figures> keys{};
  std::optional<lookup::Directory::Stats> policies{};  // absent: there are none
};

// Sums over all workers, in the form that prometheus-cpp writes as text.
std::vector<prometheus::MetricFamily> collect(const std::vector<const WorkerMetrics*>& workers,
                                              const std::vector<const SharedStoreAccess*>& shared,
                                              const ProcessFigures& process);

}  // namespace weir::gateway
