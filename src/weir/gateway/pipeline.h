// SPDX-License-Identifier: Apache-2.0
//
// The spine: route, identify, charge, decide. From a parsed head to a verdict, without sockets and without
// suspension. The order is fixed; each step is one call into its folder.
// Thread safety: pure functions on what they are given.
#pragma once

#include "weir/decide/decider.h"
#include "weir/decide/decision.h"
#include "weir/gateway/generation.h"
#include "weir/gateway/problem.h"
#include "weir/gateway/scratch.h"
#include "weir/http/message.h"
#include "weir/identity/identifier.h"

namespace weir::gateway {

struct Verdict {
  enum class Kind : std::uint8_t {
    kForward,  // to the service's upstream
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

class Pipeline {
 public:
  Pipeline(store::MemoryStore& store, const Clock& clock, Instant store_epoch)
      : decider_(store), clock_(clock), store_epoch_(store_epoch) {}

  // Fills `decision` and, in `scratch`, the route and the caller. Views in the verdict live as long as the
  // generation and the head.
  Verdict judge(const WorkerGeneration& generation, const http::RequestHead& head, const identity::Peer& peer,
                Instant now, Scratch& scratch, decide::Decision& decision, WorkerMetrics& metrics);

 private:
  Verdict limit(const WorkerGeneration& generation, const http::RequestHead& head, Instant now, Scratch& scratch,
                decide::Decision& decision, WorkerMetrics& metrics);

  decide::Decider decider_;
  const Clock& clock_;
  Instant store_epoch_;
  std::uint32_t until_timed_ = 0;
};

}  // namespace weir::gateway
