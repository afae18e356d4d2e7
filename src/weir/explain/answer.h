// SPDX-License-Identifier: Apache-2.0
//
// The answer that a verdict becomes, written by the code that answers clients. Thread safety: pure functions.
#pragma once

#include "weir/decide/decision.h"
#include "weir/explain/explanation.h"
#include "weir/gateway/generation.h"
#include "weir/gateway/pipeline.h"
#include "weir/http/rejection.h"

namespace weir::explain {

// To whom it is, and when.
struct Occasion {
  WallTime now;
  bool head_only = false;  // the request was HEAD
};

// Requires: the decision of kRefuse has a limit that binds.
AnswerFacts answer_of(const gateway::Verdict& verdict, const decide::Decision& decision,
                      const gateway::Generation& generation, const Occasion& occasion);
// Of a request that is none.
AnswerFacts answer_of(const http::Rejection& rejection, WallTime now);

}  // namespace weir::explain
