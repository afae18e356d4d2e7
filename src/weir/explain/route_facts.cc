// SPDX-License-Identifier: Apache-2.0
#include "weir/explain/route_facts.h"

#include <vector>

#include "weir/explain/request_text.h"
#include "weir/explain/secrets.h"
#include "weir/route/path.h"
#include "weir/route/service_table.h"

namespace weir::explain {
namespace {

int segments_of(std::string_view path) {
  int segments = 0;
  while (!route::take_segment(path).empty()) ++segments;
  return segments;
}

bool takes(const std::string& host, const std::string& path, const http::RequestHead& head, std::string_view normal) {
  config::Service service;
  if (!host.empty()) service.hosts = {host};
  service.paths = {path};
  route::ServiceTable table(route::kPlain);
  table.add(service, 0);
  return table.find(table.host(head.host), normal).has_value();
}

// The host and the longest path of the service to which the request belongs, found by the table that routes.
void find_place(const config::Service& service, const http::RequestHead& head, RouteFacts& facts) {
  const std::vector<std::string> every{std::string()};
  int longest = -1;
  for (const std::string& host : service.hosts.empty() ? every : service.hosts) {
    for (const std::string& path : service.paths) {
      const int segments = segments_of(path);
      if (segments <= longest || !takes(host, path, head, facts.read_as)) continue;
      longest = segments;
      facts.host = host;
      facts.path = path;
    }
  }
}

}  // namespace

RouteFacts route_facts(const gateway::Generation& generation, const route::Route& route,
                       const http::RequestHead& head) {
  const config::Service& service = generation.config.services[route.service];
  const config::Upstream& upstream = generation.config.upstreams[service.upstream];
  RouteFacts facts;
  facts.service = service.name;
  facts.upstream = upstream.name;
  route::normalise(head.path, route::kPlain, facts.read_as);
  find_place(service, head, facts);
  facts.read_as = without_user(facts.read_as);
  for (const config::Endpoint& endpoint : upstream.endpoints) facts.addresses.push_back(endpoint.text);
  if (route.shadow_endpoint != route::Route::kNoEndpoint) {
    facts.endpoint = generation.router.patterns()[route.shadow_endpoint].text;
  }
  return facts;
}

std::string default_host(const gateway::Generation& generation, std::string_view start) {
  constexpr std::string_view kAny = "localhost";
  const auto read = read_start(start);
  if (!read) return std::string(kAny);
  if (const std::string authority = authority_of(read->target); !authority.empty()) return authority;
  const auto& services = generation.config.services;
  std::string other;  // where the path is one that cannot be used
  route::Route route;
  for (std::size_t i = 0; i < services.size(); ++i) {
    const std::string host = services[i].hosts.empty() ? std::string(kAny) : services[i].hosts.front();
    const auto status = generation.router.find(host, path_of(read->target), read->method, route);
    if (status == route::RouteStatus::kFound && route.service == i) return host;
    if (status != route::RouteStatus::kNoService && other.empty()) other = host;
  }
  return other.empty() ? std::string(kAny) : other;
}

}  // namespace weir::explain
