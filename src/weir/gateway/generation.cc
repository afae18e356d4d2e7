// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/generation.h"

namespace weir::gateway {
namespace {

http::RequestRules rules_of(const config::Http& http) {
  return {.max_target = http.max_target,
          .max_head = http.max_head,
          .max_fields = http.max_fields,
          .drop_underscores = http.drop_underscores,
          .target_authority_wins = http.target_authority_wins};
}

// The upstream's own Host; port 80 is what http means without one.
std::string authority_of(const config::Endpoint& endpoint) {
  if (!endpoint.unix_path.empty()) return "localhost";
  const std::string host = endpoint.host.find(':') == std::string::npos ? endpoint.host : "[" + endpoint.host + "]";
  return endpoint.port == 80 ? host : host + ":" + std::to_string(endpoint.port);
}

// What is under way to an upstream counts whatever configuration it began with.
std::shared_ptr<std::atomic<std::uint32_t>> running_of(const Generation* previous, const std::string& upstream) {
  if (previous != nullptr) {
    for (const auto& known : previous->upstreams) {
      if (known->config.name == upstream) return known->running;
    }
  }
  return std::make_shared<std::atomic<std::uint32_t>>(0);
}

}  // namespace

Generation::Generation(config::Config configuration, const Generation* previous, const Foundations& under)
    : config(std::move(configuration)),
      number(previous == nullptr ? 1 : previous->number + 1),
      rules(rules_of(config.http)),
      router(config),
      identifier(config, [&under](const config::JwtCaller& caller) { return under.keys.open(caller); }),
      policy(config, router, identifier.names(), under.store, under.row_numbers),
      row_compiler(config, router, policy.limits()),
      fields(config.responses, policy.limits()) {
  if (config.guessing) guesses.emplace(*config.guessing, under.store);
  for (const config::Upstream& upstream : config.upstreams) {
    auto shared = std::make_shared<SharedUpstream>();
    shared->config = upstream;
    shared->running = running_of(previous, upstream.name);
    shared->authority = authority_of(upstream.endpoints.front());
    for (const config::Endpoint& endpoint : upstream.endpoints)
      shared->endpoints.push_back(under.resolver.resolve(endpoint));
    upstreams.push_back(std::move(shared));
  }
}

WorkerGeneration::WorkerGeneration(std::shared_ptr<const Generation> shared_generation, UpstreamHosts& hosts,
                                   WorkerMetrics& metrics)
    : shared(std::move(shared_generation)),
      memory(std::make_unique<identity::Memory>(shared->identifier.make_memory(metrics.credentials))),
      no_service(&metrics.service("")) {
  for (const auto& upstream : shared->upstreams) upstreams.push_back(hosts.open(upstream));
  for (const auto& service : shared->config.services) service_counters.push_back(&metrics.service(service.name));
  for (const auto& limit : shared->policy.limits()) limit_counters.push_back(&metrics.limit(limit.name));
}

}  // namespace weir::gateway
