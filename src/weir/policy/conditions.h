// SPDX-License-Identifier: Apache-2.0
//
// Under which conditions a rule acts on a caller, and by which of its numbers. Thread safety: pure functions.
#pragma once

#include <algorithm>

#include "weir/identity/attributes.h"
#include "weir/policy/rule.h"

namespace weir::policy {

// Endpoint and method are always there: none is an endpoint, too.
inline bool can_be_missing(identity::AttributeId id) { return id != identity::kEndpoint && id != identity::kMethod; }

// Of `only_if_missing`, the first attribute that the caller has, so that the rule does not act; null: none.
inline const identity::AttributeId* hindrance(const Rule& rule, const identity::Attributes& attributes) {
  const auto found =
      std::ranges::find_if(rule.only_if_missing, [&](identity::AttributeId id) { return attributes.has(id); });
  return found == rule.only_if_missing.end() ? nullptr : &*found;
}

// The entry of `by` that is for this caller; null: none.
inline const Rule::Alternative* alternative_for(const Rule& rule, const identity::Attributes& attributes) {
  for (const Rule::Alternative& alternative : rule.alternatives) {
    if (attributes.get(alternative.attribute) == alternative.value) return &alternative;
  }
  return nullptr;
}

inline bool serves(const Rule& rule, route::ServiceIndex service) {
  return rule.services.empty() || std::ranges::find(rule.services, service) != rule.services.end();
}

}  // namespace weir::policy
