// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/shared_store.h"

#include <memory>
#include <utility>
#include <vector>

namespace weir::gateway {
namespace {

using Hosts = std::vector<std::pair<redis::Address, std::shared_ptr<const ResolvedEndpoint>>>;

redis::ClientSettings::Cluster cluster_of(config::Redis::Cluster cluster) {
  switch (cluster) {
    case config::Redis::Cluster::kOff:
      return redis::ClientSettings::Cluster::kOff;
    case config::Redis::Cluster::kOn:
      return redis::ClientSettings::Cluster::kOn;
    case config::Redis::Cluster::kAuto:
      break;
  }
  return redis::ClientSettings::Cluster::kAuto;
}

// The servers of the configuration by their names, other nodes of a cluster as they are announced.
std::vector<io::SocketAddress> addresses_of(const redis::Address& address, const Hosts& hosts) {
  for (const auto& [known, endpoint] : hosts) {
    if (known == address) return *endpoint->addresses();
  }
  const auto literal = io::SocketAddress::literal(address.host, address.port);
  return literal ? std::vector{*literal} : std::vector<io::SocketAddress>();
}

}  // namespace

Result<SharedStoreSettings> shared_store_settings(const config::Redis& redis, Resolver& resolver) {
  SharedStoreSettings settings;
  settings.budget = redis.budget;
  settings.clock = redis.clock == config::Redis::Clock::kStore ? store::RedisStore::Clock::kServer
                                                               : store::RedisStore::Clock::kGateway;
  settings.client.cluster = cluster_of(redis.cluster);
  redis::NodeSettings& node = settings.client.node;
  const config::RedisUrl& first = redis.urls.front();
  node.user = first.user;
  node.password = first.password;
  node.database = first.database;
  node.budget = redis.budget;
  node.scripts = store::RedisStore::scripts();
  Hosts hosts;
  for (const config::RedisUrl& url : redis.urls) {
    redis::Address address{url.server.host, url.server.port, url.server.unix_path};
    hosts.emplace_back(address, resolver.resolve(url.server));
    settings.client.seeds.push_back(std::move(address));
  }
  node.resolve = [hosts = std::move(hosts)](const redis::Address& address) { return addresses_of(address, hosts); };
  if (!first.tls) return settings;
  auto tls = io::TlsContext::client({.ca_file = redis.ca, .verify = redis.verify});
  if (!tls) return std::unexpected(tls.error());
  node.tls = std::move(*tls);
  return settings;
}

}  // namespace weir::gateway
