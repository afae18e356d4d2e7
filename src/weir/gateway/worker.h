// SPDX-License-Identifier: Apache-2.0
//
// One event loop with everything that belongs to it: its listeners, its client connections, its upstream connections,
// its counters and its scratch memory. Workers share the memory store and the generation, nothing else.
// Thread safety: constructed, joined and observed (metrics, last_turn, connections) from outside; everything else on
// the worker's thread, reached with post().
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "weir/gateway/access_log.h"
#include "weir/gateway/generation.h"
#include "weir/gateway/lookup_access.h"
#include "weir/gateway/metrics.h"
#include "weir/gateway/pipeline.h"
#include "weir/gateway/scratch.h"
#include "weir/gateway/session.h"
#include "weir/gateway/shared_store.h"
#include "weir/http/date.h"
#include "weir/io/acceptor.h"
#include "weir/io/event_loop.h"

namespace weir::gateway {

// How many client connections all workers together may have.
struct ConnectionBudget {
  std::atomic<std::uint32_t> open{0};
  std::atomic<std::uint32_t> most{0};

  bool has_room() const { return open.load(std::memory_order_relaxed) < most.load(std::memory_order_relaxed); }
};

struct WorkerContext {
  const Clock& clock;
  store::MemoryStore& store;
  decide::Lines& lines;
  Instant store_epoch;
  ConnectionBudget& budget;
  const SharedStoreSettings* shared = nullptr;  // null: every counter is in memory
  lookup::Directory* directory = nullptr;       // null: there are no policies
  io::SocketCalls calls = io::SocketCalls::kAuto;
  AccessLog::Writer* log = nullptr;  // null: off
  std::string id_prefix;             // of request ids; differs between workers and processes
};

class Worker {
 public:
  Worker(const WorkerContext& context, std::shared_ptr<const Generation> generation);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void start();  // the thread
  void join();
  void post(std::function<void()> work) { loop_.post(std::move(work)); }
  Instant last_turn() const { return loop_.last_turn(); }
  const WorkerMetrics& metrics() const { return metrics_; }
  // Null: there is no shared store.
  const SharedStoreAccess* shared_store() const { return shared_.get(); }
  const io::TransferBatch& transfers() const { return loop_.transfers().batch(); }

  void adopt(std::shared_ptr<const Generation> generation);
  void open_listener(const std::string& address, io::Descriptor socket);
  void close_listener(const std::string& address);
  void begin_drain();
  // Ends every connection; returns how many were busy.
  std::size_t cut_all();
  std::size_t connections() const { return sessions_.size(); }
  void stop() { loop_.stop(); }

  // For sessions.
  io::EventLoop& loop() { return loop_; }
  Times times() { return {loop_.now(), loop_.wall()}; }
  Scratch& scratch() { return scratch_; }
  Pipeline& pipeline() { return pipeline_; }
  WorkerMetrics& metrics() { return metrics_; }
  AccessLog::Writer* log() const { return log_; }
  const std::shared_ptr<WorkerGeneration>& generation() const { return generation_; }
  LookupAccess* lookups() { return lookups_ ? &*lookups_ : nullptr; }
  bool draining() const { return draining_; }
  // When whatever is left is cut; far away unless the process is about to end.
  Instant drain_deadline() const { return drain_deadline_; }
  http::RequestParser& shared_parser() { return parser_; }
  // The shared parser with what it has read so far, for a head that comes in pieces.
  std::unique_ptr<http::RequestParser> lend_parser();
  std::unique_ptr<Exchange> take_exchange();
  void put_back(std::unique_ptr<Exchange> exchange);
  // The Date field's value of this second; the view stays valid and its content current.
  std::string_view date();
  void make_request_id(std::string& out);
  std::string make_trace_parent();
  void remove(Session& session);
  // A session that stands in line is found by its ticket when the line moves up, or not any more. Not 0.
  std::uint64_t add_waiting(Session& session);
  void remove_waiting(std::uint64_t ticket);
  // From any thread.
  void wake_waiting(std::uint64_t ticket);

 private:
  // `listener`: its address as configured.
  void accept(const std::string& listener, io::Acceptor::Accepted accepted);
  bool is_introduced(const std::string& listener) const;

  io::EventLoop loop_;
  Scratch scratch_;
  WorkerMetrics metrics_;
  UpstreamHosts hosts_;
  std::unique_ptr<SharedStoreAccess> shared_;
  std::optional<LookupAccess> lookups_;
  Pipeline pipeline_;
  ConnectionBudget& budget_;
  AccessLog::Writer* log_;
  std::string id_prefix_;
  std::uint64_t ids_ = 0;
  FingerprintKey trace_key_ = FingerprintKey::random();
  std::shared_ptr<WorkerGeneration> generation_;
  http::RequestParser parser_;
  std::map<std::string, std::unique_ptr<io::Acceptor>> acceptors_;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::vector<std::unique_ptr<Exchange>> idle_exchanges_;
  std::unordered_map<std::uint64_t, Session*> waiting_;
  std::uint64_t tickets_ = 0;
  std::int64_t date_second_ = -1;
  std::array<char, http::kImfDateSize> date_{};
  bool draining_ = false;
  Instant drain_deadline_ = Instant::max();
  std::thread thread_;
};

}  // namespace weir::gateway
