// SPDX-License-Identifier: Apache-2.0
#include "weir/partners/limit_scope.h"

#include <algorithm>

namespace weir::partners {
namespace {

// Configurations that cannot say so yet take rows for every limit.
template <class Limit>
bool says_policies(const Limit& limit) {
  if constexpr (requires { limit.from_policies; }) {
    return limit.from_policies;
  } else {
    return true;
  }
}

std::int64_t usual_cost(const config::Cost& cost) {
  if (const auto* fixed = std::get_if<std::int64_t>(&cost)) return *fixed;
  if (const auto* header = std::get_if<config::HeaderCost>(&cost)) return header->fallback;
  return std::get<config::ResponseCost>(cost).reserve;
}

bool is_service(const config::PerAttribute& per) {
  return per.source == config::PerAttribute::Source::kAttribute && per.name == "service";
}

LimitScope scope_of(const config::Config& config, const config::Limit& limit) {
  LimitScope scope;
  scope.name = limit.name;
  scope.from_policies = says_policies(limit);
  scope.algorithm = limit.algorithm;
  scope.queue = limit.queue;
  scope.per_service = std::ranges::any_of(limit.per, is_service);
  for (std::size_t i = 0; i < config.services.size(); ++i) {
    const bool acts = limit.services.empty() || std::ranges::find(limit.services, i) != limit.services.end();
    if (acts) scope.services.push_back(config.services[i].name);
  }
  for (const config::EndpointPattern& pattern : limit.match) scope.endpoints.push_back(pattern.text);
  scope.cost = usual_cost(limit.cost);
  return scope;
}

}  // namespace

Scopes scopes_of(const config::Config& config) {
  Scopes scopes;
  for (const config::Limit& limit : config.limits) scopes.limits.push_back(scope_of(config, limit));
  for (const config::Service& service : config.services) scopes.services.push_back(service.name);
  return scopes;
}

}  // namespace weir::partners
