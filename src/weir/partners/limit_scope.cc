// SPDX-License-Identifier: Apache-2.0
#include "weir/partners/limit_scope.h"

#include <algorithm>

namespace weir::partners {
namespace {

std::int64_t usual_cost(const config::Cost& cost) {
  if (const auto* fixed = std::get_if<std::int64_t>(&cost)) return *fixed;
  if (const auto* header = std::get_if<config::HeaderCost>(&cost)) return header->fallback;
  return std::get<config::ResponseCost>(cost).reserve;
}

bool is_per(const config::Limit& limit, const char* attribute) {
  return std::ranges::find(limit.per, config::PerAttribute{config::PerAttribute::Source::kAttribute, attribute}) !=
         limit.per.end();
}

std::vector<std::string> endpoints_of(const config::Config& config, const config::Limit& limit) {
  std::vector<std::string> endpoints;
  const auto add = [&](const config::Limit& one) {
    for (const config::EndpointPattern& pattern : one.match) endpoints.push_back(pattern.text);
  };
  if (!limit.match.empty() || !is_per(limit, "endpoint")) {
    add(limit);
  } else {
    for (const config::Limit& one : config.limits) {
      if (one.mode == config::Mode::kEnforce) add(one);
    }
  }
  return endpoints;
}

LimitScope scope_of(const config::Config& config, const config::Limit& limit) {
  LimitScope scope;
  scope.name = limit.name;
  scope.from_policies = limit.from_policies;
  scope.algorithm = limit.algorithm;
  scope.queue = limit.queue;
  scope.per_service = is_per(limit, "service");
  for (std::size_t i = 0; i < config.services.size(); ++i) {
    const bool acts = limit.services.empty() || std::ranges::find(limit.services, i) != limit.services.end();
    if (acts) scope.services.push_back(config.services[i].name);
  }
  scope.endpoints = endpoints_of(config, limit);
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
