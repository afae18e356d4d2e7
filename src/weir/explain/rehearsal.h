// SPDX-License-Identifier: Apache-2.0
//
// A request goes through the gateway's own pipeline, with counters that nobody else sees: so what is told about it is
// what the gateway does. Policies are looked up and tokens are checked as for a real request; upstreams and the
// shared store are not asked. Thread safety: one thread.
#pragma once

#include <memory>
#include <optional>

#include "weir/base/clock.h"
#include "weir/base/result.h"
#include "weir/config/config.h"
#include "weir/decide/lines.h"
#include "weir/gateway/generation.h"
#include "weir/gateway/pipeline.h"
#include "weir/gateway/policies.h"
#include "weir/gateway/resolver.h"
#include "weir/gateway/scratch.h"
#include "weir/gateway/shared_store.h"
#include "weir/io/event_loop.h"

namespace weir::explain {

class Rehearsal final : private decide::Lines::Waiter {
 public:
  // Waits for the keys of issuers as a gateway does when it starts. `clock` outlives the rehearsal.
  static Result<std::unique_ptr<Rehearsal>> open(config::Config config, const Clock& clock);

  // How long a look-up may take beyond the budget of the configuration: connections are not open here yet.
  static constexpr nanoseconds kMargin = std::chrono::seconds(1);

  // Everything but what the shared store would say: then the verdict is kDecide. Takes no longer than the budget of
  // look-ups and the margin; what is not known by then is not known.
  gateway::Verdict judge(const http::RequestHead& head, const identity::Peer& peer);
  // What the gateway does when the shared store does not answer. Requires: the verdict is kDecide; once.
  void decide_without_store(gateway::Verdict& verdict);

  const gateway::Generation& generation() const { return *generation_; }
  const gateway::Scratch& scratch() const { return *scratch_; }
  const decide::Decision& decision() const { return decision_; }
  gateway::Times times() const { return times_; }
  // Null: there are no policies.
  lookup::Directory* directory() { return directory_.get(); }
  gateway::KeyRefresher& keys() { return keys_; }
  struct LookUps {
    bool wanted = false;    // a policy had to be looked up
    bool failed = false;    // the database did not answer
    bool too_late = false;  // in time
    bool late = false;      // it did, but later than a gateway waits
  };
  const LookUps& look_ups() const { return look_ups_; }
  // For this request; nothing more is.
  const gateway::LookedUp& looked_up() const { return looked_up_; }

 private:
  Rehearsal(config::Config config, const Clock& clock);
  void moved_up() override {}
  Result<void> connect();
  lookup::KnownPtr look_up(const partners::Subject& subject, Instant until);

  const gateway::Times times_;
  gateway::Resolver resolver_;
  gateway::KeyRefresher keys_;
  policy::RowNumbersShelf row_numbers_;
  store::MemoryStore store_;
  decide::Lines lines_;
  io::EventLoop loop_;
  gateway::WorkerMetrics metrics_;
  gateway::UpstreamHosts hosts_{loop_, metrics_};
  std::shared_ptr<const gateway::Generation> generation_;
  gateway::WorkerGeneration worker_;
  const Clock& clock_;
  std::optional<gateway::SharedStoreSettings> settings_;
  std::unique_ptr<gateway::SharedStoreAccess> shared_;  // is never started
  std::unique_ptr<lookup::Directory> directory_;
  std::optional<gateway::Pipeline> pipeline_;
  std::unique_ptr<gateway::Scratch> scratch_ = std::make_unique<gateway::Scratch>();
  decide::Decision decision_;
  gateway::LookedUp looked_up_{false};
  LookUps look_ups_;
};

}  // namespace weir::explain
