// SPDX-License-Identifier: Apache-2.0
//
// What a policy finds about the limits of a configuration, in words. Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "weir/config/config.h"
#include "weir/explain/explanation.h"
#include "weir/explain/secrets.h"
#include "weir/gateway/generation.h"
#include "weir/gateway/partner_view.h"
#include "weir/identity/attributes.h"
#include "weir/policy/finding.h"

namespace weir::explain {

// For programs: stays what it is.
std::string word_of(policy::Acts acts);

struct LimitScene {
  const gateway::Generation& generation;
  const identity::Attributes& attributes;
  const gateway::PartnerFindings& partner;
  const Secrets& secrets;
};

LimitFacts facts_of(const policy::Finding& finding, const LimitScene& scene);
// What was decided about a request, as far as its limits are concerned.
struct Ending {
  bool admitted = true;
  std::string why;            // not, in a sentence
  bool store_closed = false;  // because the store is away
};
// Of a limit that applies: what becomes of its count. Requires: its `count` and `without_store` are set.
// `refuses`: it is this one that does not admit.
void conclude(const Ending& ending, bool refuses, LimitFacts& facts);
// Of a limit that the request does not come to.
LimitFacts not_reached(const policy::LimitInfo& info, const config::Limit& limit);

}  // namespace weir::explain
