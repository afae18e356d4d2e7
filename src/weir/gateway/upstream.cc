// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/upstream.h"

#include <algorithm>

namespace weir::gateway {

UpstreamConnection::UpstreamConnection(io::EventLoop& loop, UpstreamHost& host, io::Descriptor socket)
    : metrics_(host.metrics()),
      host_(host),
      stream_(loop, std::move(socket), nullptr, io::Stream::Phase::kConnecting),
      idle_(loop.timers(), *this) {
  metrics_.upstream_connections.add();
}

UpstreamConnection::~UpstreamConnection() { metrics_.upstream_connections.subtract(); }

void UpstreamConnection::notify() {
  const bool timed_out = !idle_.is_set();
  if (timed_out || stream_.readable() || stream_.peer_ended()) host_.drop(*this);
}

UpstreamHost::~UpstreamHost() {
  for (auto& connection : idle_) {
    connection->stream_.close();
    loop_.retire(std::move(connection));
  }
}

std::unique_ptr<UpstreamConnection> UpstreamHost::take_idle() {
  while (!idle_.empty()) {
    auto connection = std::move(idle_.back());
    idle_.pop_back();
    if (!connection->stream_.readable() && !connection->stream_.peer_ended()) {
      connection->stream_.observe(nullptr);
      connection->reused_ = true;
      return connection;
    }
    connection->stream_.close();
    loop_.retire(std::move(connection));
  }
  return nullptr;
}

std::unique_ptr<UpstreamConnection> UpstreamHost::connect() {
  const auto addresses = endpoint_->addresses();
  for (std::size_t tries = 0; tries < addresses->size(); ++tries) {
    const auto& address = (*addresses)[next_address_++ % addresses->size()];
    if (auto socket = io::Stream::start_connect(address)) {
      return std::make_unique<UpstreamConnection>(loop_, *this, std::move(*socket));
    }
  }
  return nullptr;
}

void UpstreamHost::put_back(std::unique_ptr<UpstreamConnection> connection, nanoseconds idle_timeout) {
  if (connection->stream_.readable() || connection->stream_.peer_ended()) {
    connection->stream_.close();
    loop_.retire(std::move(connection));
    return;
  }
  connection->stream_.observe(connection.get());
  connection->idle_.set(loop_.now() + idle_timeout);
  idle_.push_back(std::move(connection));
}

void UpstreamHost::drop(UpstreamConnection& idle) {
  const auto found = std::ranges::find_if(idle_, [&](const auto& one) { return one.get() == &idle; });
  if (found == idle_.end()) return;  // its timer rang late: it is at work
  (*found)->stream_.close();
  loop_.retire(std::move(*found));
  idle_.erase(found);
}

void UpstreamHost::failed(Instant now) {
  ++failures_;
  if (failures_ >= kFailuresToEject) ejected_until_ = now + kEjection;
}

UpstreamHost& Upstream::choose(Instant now, const UpstreamHost* other_than) {
  const std::size_t count = hosts.size();
  // At most a tenth of the hosts is left out, or one where there are fewer; somebody always stays.
  const std::size_t may_eject = count == 1 ? 0 : std::max<std::size_t>(1, count / 10);
  const auto ejected =
      static_cast<std::size_t>(std::ranges::count_if(hosts, [&](const auto& host) { return host->ejected(now); }));
  const bool respect = ejected <= may_eject;
  UpstreamHost* fallback = nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    UpstreamHost& host = *hosts[next_host++ % count];
    if (respect && host.ejected(now)) continue;
    if (&host != other_than) return host;
    fallback = &host;
  }
  return fallback != nullptr ? *fallback : *hosts[next_host++ % count];
}

Upstream UpstreamHosts::open(const std::shared_ptr<SharedUpstream>& shared) {
  Upstream upstream{.shared = shared,
                    .hosts = {},
                    .counters = &metrics_.upstream(shared->config.name),
                    .next_host = 0,
                    .retrying = 0};
  std::erase_if(hosts_, [](const auto& known) { return known.second.expired(); });
  for (const auto& endpoint : shared->endpoints) {
    auto& known = hosts_[shared->config.name + ' ' + endpoint->endpoint().text];
    auto host = known.lock();
    if (!host) known = host = std::make_shared<UpstreamHost>(loop_, metrics_, endpoint);
    upstream.hosts.push_back(std::move(host));
  }
  return upstream;
}

}  // namespace weir::gateway
