// SPDX-License-Identifier: Apache-2.0
//
// The spine: route, identify, charge, decide. From a parsed head to a verdict, without sockets and without
// suspension; and later what the answer and the end of the request change about the decision. The order is fixed;
// each step is one call into its folder. Thread safety: the worker's thread.
#pragma once

#include <optional>

#include "weir/decide/decider.h"
#include "weir/decide/decision.h"
#include "weir/decide/lines.h"
#include "weir/gateway/generation.h"
#include "weir/gateway/partner_view.h"
#include "weir/gateway/problem.h"
#include "weir/gateway/scratch.h"
#include "weir/http/message.h"
#include "weir/identity/identifier.h"
#include "weir/io/task.h"

namespace weir::gateway {

struct Verdict {
  enum class Kind : std::uint8_t {
    kForward,  // to the service's upstream
    kLookUp,   // Scratch::wanted has to be looked up; then the request is to be judged again
    kDecide,   // the shared store has to be asked: Pipeline::decide
    kRefuse,   // 429, from the decision
    kProblem,  // another answer of our own
    kOptions,  // OPTIONS *
  };
  static constexpr route::ServiceIndex kNoService = UINT32_MAX;

  Kind kind = Kind::kProblem;
  Problem problem;
  route::ServiceIndex service = kNoService;
  bool bypass = false;
};

// A turn of the loop on both clocks.
struct Times {
  Instant now{};
  WallTime wall{};
};

// A request that is to be judged.
struct Arrived {
  const http::RequestHead& head;
  const identity::Peer& peer;
  Times times;
  const LookedUp& looked_up;
};

class Pipeline {
 public:
  // `shared`: null without a shared store. `directory`: null without policies.
  Pipeline(store::MemoryStore& store, decide::Lines& lines, decide::Decider::Shared* shared,
           lookup::Directory* directory, const Clock& clock, Instant store_epoch)
      : decider_(store, lines, shared), directory_(directory), clock_(clock), store_epoch_(store_epoch) {}

  // Fills `decision` and, in `scratch`, the route and the caller. Views in the verdict live as long as the
  // generation and the head. `waiter`: as in Decider::decide. After kDecide the charges are in `scratch`.
  Verdict judge(const WorkerGeneration& generation, const Arrived& request, Scratch& scratch,
                decide::Decision& decision, WorkerMetrics& metrics, decide::Lines::Waiter& waiter);

  // Makes `verdict` one of the other kinds. Whatever is given outlives the task; `times`: when it began.
  io::Task<void> decide(const WorkerGeneration& generation, const policy::Charges& charges, Times times,
                        decide::Decision& decision, WorkerMetrics& metrics, Verdict& verdict);

  // Until then an admitted request waits in line.
  Instant starts_at(const decide::Decision& decision) const {
    return store_epoch_ + nanoseconds(decision.starts_at());
  }
  void start(decide::Decision& decision, const Times& times) const { decider_.start(decision, call_at(times)); }
  void leave(decide::Decision& decision, const Times& times) const { decider_.leave(decision, call_at(times)); }

  // `head`: of the upstream's answer; null: the answer is our own.
  void settle(decide::Decision& decision, int status, const http::ResponseHead* head, const Times& times) const;
  // False when a lease had run out.
  bool renew(const decide::Decision& decision, const Times& times) const {
    return decider_.renew(decision, call_at(times));
  }
  void finish(decide::Decision& decision, const Times& times) const {
    if (!decision.held.empty()) decider_.finish(decision, call_at(times));
  }

 private:
  // False: `verdict` says what becomes of the request. Else the caller is known as far as has to be.
  bool identify(const WorkerGeneration& generation, const Arrived& request, Scratch& scratch, WorkerMetrics& metrics,
                Verdict& verdict) const;
  static bool look_up(const PartnerView& partners, Scratch& scratch, Verdict& verdict);
  static bool complete(PartnerView& partners, Scratch& scratch, Verdict& verdict);
  Verdict limit(const WorkerGeneration& generation, const Arrived& request, Scratch& scratch,
                decide::Decision& decision, WorkerMetrics& metrics, decide::Lines::Waiter& waiter);
  void decide_in_memory(const policy::Charges& charges, const Times& times, decide::Decision& decision,
                        WorkerMetrics& metrics, decide::Lines::Waiter& waiter);
  struct Charged;
  static void conclude(const Charged& charged, const decide::Decision& decision, WorkerMetrics& metrics,
                       Verdict& verdict);
  limit::Call call_at(const Times& times) const {
    return {.now = (times.now - store_epoch_).count(), .wall = times.wall.time_since_epoch().count()};
  }
  limit::LeaseId new_lease() { return {++leases_, lease_prefix_}; }

  decide::Decider decider_;
  lookup::Directory* directory_;
  const Clock& clock_;
  Instant store_epoch_;
  std::uint32_t until_timed_ = 0;
  const std::uint64_t lease_prefix_ = FingerprintKey::random().words[0];  // workers and processes differ
  std::uint64_t leases_ = 0;
};

}  // namespace weir::gateway
