// SPDX-License-Identifier: Apache-2.0
//
// Connections to upstreams, per worker: kept alive and handed out last-in first-out. A connection carries one request
// at a time; one that the upstream ends, or that speaks while nobody asked, leaves the pool at once. Hosts that fail
// five times in a row are left out for 30 seconds, but never all of them. Thread safety: the worker's thread;
// SharedUpstream any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "weir/config/config.h"
#include "weir/gateway/metrics.h"
#include "weir/gateway/resolver.h"
#include "weir/io/event_loop.h"
#include "weir/io/stream.h"

namespace weir::gateway {

class UpstreamHost;

// What all workers know of one upstream of one configuration.
struct SharedUpstream {
  config::Upstream config;
  std::string authority;  // for Host where the client's is not passed on: that of the first endpoint
  std::vector<std::shared_ptr<const ResolvedEndpoint>> endpoints;
  std::shared_ptr<std::atomic<std::uint32_t>> running;  // requests under way, all workers and generations
};

class UpstreamConnection final : public io::Retired, private io::Observer {
 public:
  UpstreamConnection(io::EventLoop& loop, UpstreamHost& host, io::Descriptor socket);
  ~UpstreamConnection() override;

  io::Stream& stream() { return stream_; }
  UpstreamHost& host() { return host_; }
  bool reused() const { return reused_; }

 private:
  friend class UpstreamHost;
  void notify() override;  // something happened while it was idle: it ends

  WorkerMetrics& metrics_;
  UpstreamHost& host_;
  io::Stream stream_;
  io::Timer idle_;
  bool reused_ = false;
};

// One address of an upstream: its idle connections and its health.
class UpstreamHost {
 public:
  UpstreamHost(io::EventLoop& loop, WorkerMetrics& metrics, std::shared_ptr<const ResolvedEndpoint> endpoint)
      : loop_(loop), metrics_(metrics), endpoint_(std::move(endpoint)) {}
  ~UpstreamHost();

  // An idle connection of which no event says that it has ended or spoken, or null.
  std::unique_ptr<UpstreamConnection> take_idle();
  // A connection that begins to connect, or null when that is impossible at once. Tries the addresses in turn.
  std::unique_ptr<UpstreamConnection> connect();
  // Back to the pool. Requires: both messages ended cleanly and no byte is left over.
  void put_back(std::unique_ptr<UpstreamConnection> connection, nanoseconds idle_timeout);
  void drop(UpstreamConnection& idle);

  void succeeded() { failures_ = 0; }
  void failed(Instant now);
  bool ejected(Instant now) const { return failures_ >= kFailuresToEject && now < ejected_until_; }

  const ResolvedEndpoint& endpoint() const { return *endpoint_; }
  std::size_t idle_count() const { return idle_.size(); }
  WorkerMetrics& metrics() { return metrics_; }

 private:
  static constexpr int kFailuresToEject = 5;
  static constexpr std::chrono::seconds kEjection{30};

  io::EventLoop& loop_;
  WorkerMetrics& metrics_;
  std::shared_ptr<const ResolvedEndpoint> endpoint_;
  std::vector<std::unique_ptr<UpstreamConnection>> idle_;
  std::size_t next_address_ = 0;
  int failures_ = 0;
  Instant ejected_until_{};
};

// An upstream as one worker sees it under one configuration.
struct Upstream {
  std::shared_ptr<SharedUpstream> shared;
  std::vector<std::shared_ptr<UpstreamHost>> hosts;
  UpstreamCounters* counters = nullptr;
  std::size_t next_host = 0;
  std::uint32_t retrying = 0;  // requests of this worker that are on their second attempt

  const config::Upstream& config() const { return shared->config; }
  // The next healthy host in turn, not `other_than` when there is another. Never null.
  UpstreamHost& choose(Instant now, const UpstreamHost* other_than);
};

// All hosts of a worker, shared by the configurations that name them, so that a reload keeps connections.
class UpstreamHosts {
 public:
  UpstreamHosts(io::EventLoop& loop, WorkerMetrics& metrics) : loop_(loop), metrics_(metrics) {}

  Upstream open(const std::shared_ptr<SharedUpstream>& shared);

 private:
  io::EventLoop& loop_;
  WorkerMetrics& metrics_;
  std::map<std::string, std::weak_ptr<UpstreamHost>> hosts_;
};

}  // namespace weir::gateway
