// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/shared_store.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
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

// Nodes of a cluster that announce themselves by host name, for all workers. Thread safety: any thread.
class AnnouncedNames {
 public:
  explicit AnnouncedNames(Resolver& resolver) : resolver_(resolver) {}

  // None before the name has been looked up.
  std::vector<io::SocketAddress> addresses_of(const redis::Address& address) {
    const std::scoped_lock lock(mutex_);
    if (names_.size() >= kMost && !names_.contains(address.text())) names_.clear();
    auto& known = names_[address.text()];
    if (!known) {
      known = resolver_.resolve_soon(
          {.text = address.text(), .host = address.host, .port = address.port, .unix_path = {}});
    }
    return *known->addresses();
  }

 private:
  static constexpr std::size_t kMost = 1024;  // as a cluster has at most, give or take those that are gone

  Resolver& resolver_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const ResolvedEndpoint>> names_;
};

// The servers of the configuration by their names, other nodes of a cluster as they are announced.
std::vector<io::SocketAddress> addresses_of(const redis::Address& address, const Hosts& hosts,
                                            AnnouncedNames& announced) {
  for (const auto& [known, endpoint] : hosts) {
    if (known == address) return *endpoint->addresses();
  }
  if (const auto literal = io::SocketAddress::literal(address.host, address.port)) return {*literal};
  return announced.addresses_of(address);
}

}  // namespace

Result<SharedStoreSettings> shared_store_settings(const config::Redis& redis, Resolver& resolver) {
  SharedStoreSettings settings;
  settings.store.budget = redis.budget;
  settings.store.clock = redis.clock == config::Redis::Clock::kStore ? store::RedisStore::Clock::kServer
                                                                     : store::RedisStore::Clock::kGateway;
  settings.client.cluster = cluster_of(redis.cluster);
  settings.store.channel = redis.prefix + ":room";
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
  node.resolve = [hosts = std::move(hosts), announced = std::make_shared<AnnouncedNames>(resolver)](
                     const redis::Address& address) { return addresses_of(address, hosts, *announced); };
  if (!first.tls) return settings;
  auto tls = io::TlsContext::client({.ca_file = redis.ca, .verify = redis.verify});
  if (!tls) return std::unexpected(tls.error());
  node.tls = std::move(*tls);
  return settings;
}

SharedStoreAccess::SharedStoreAccess(io::EventLoop& loop, const SharedStoreSettings& settings)
    : client(loop, settings.client, counters),
      store(client, settings.store),
      subscriber(loop, settings.client.node, settings.store.channel,
                 {.servers = [this] { return client.servers(); },
                  .message = [this](std::string_view message) { store.told(message); },
                  .changed = [this](bool live) { store.set_told(live); }},
                 counters),
      shared{store} {}

}  // namespace weir::gateway
