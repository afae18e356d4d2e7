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

AnswerFacts answer_of(const gateway::Verdict& verdict, const decide::Decision& decision,
                      const gateway::Generation& generation, WallTime now);
// Of a request that is none.
AnswerFacts answer_of(const http::Rejection& rejection);

}  // namespace weir::explain
