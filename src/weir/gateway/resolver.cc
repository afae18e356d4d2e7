// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/resolver.h"

#include <chrono>
#include <utility>

#include "weir/base/log.h"
#include "weir/io/name_lookup.h"

namespace weir::gateway {
namespace {

constexpr auto kRefresh = std::chrono::seconds(30);

}  // namespace

ResolvedEndpoint::ResolvedEndpoint(config::Endpoint endpoint) : endpoint_(std::move(endpoint)) {
  std::vector<io::SocketAddress> fixed;
  if (!endpoint_.unix_path.empty()) {
    if (const auto address = io::SocketAddress::unix_path(endpoint_.unix_path)) fixed.push_back(*address);
  } else if (const auto address = io::SocketAddress::literal(endpoint_.host, endpoint_.port)) {
    fixed.push_back(*address);
  } else {
    needs_lookup_ = true;
  }
  addresses_ = std::make_shared<const std::vector<io::SocketAddress>>(std::move(fixed));
}

std::shared_ptr<const std::vector<io::SocketAddress>> ResolvedEndpoint::addresses() const {
  const std::scoped_lock lock(mutex_);
  return addresses_;
}

void ResolvedEndpoint::look_up() {
  auto found = io::look_up(endpoint_.host, endpoint_.port);
  if (!found) {
    log_warn("{}", found.error().message);
    return;
  }
  auto fresh = std::make_shared<const std::vector<io::SocketAddress>>(std::move(*found));
  const std::scoped_lock lock(mutex_);
  addresses_ = std::move(fresh);
}

Resolver::Resolver() : thread_([this] { run(); }) {}

Resolver::~Resolver() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

std::shared_ptr<const ResolvedEndpoint> Resolver::resolve(const config::Endpoint& endpoint) {
  {
    const std::scoped_lock lock(mutex_);
    if (auto known = find(endpoint)) return known;
  }
  auto fresh = std::make_shared<ResolvedEndpoint>(endpoint);
  if (fresh->needs_lookup()) fresh->look_up();
  const std::scoped_lock lock(mutex_);
  known_.push_back(fresh);
  return fresh;
}

std::shared_ptr<const ResolvedEndpoint> Resolver::resolve_soon(const config::Endpoint& endpoint) {
  const std::scoped_lock lock(mutex_);
  if (auto known = find(endpoint)) return known;
  auto fresh = std::make_shared<ResolvedEndpoint>(endpoint);
  known_.push_back(fresh);
  if (fresh->needs_lookup()) {
    awaited_.push_back(fresh);
    wake_.notify_one();
  }
  return fresh;
}

// Requires: the mutex is locked.
std::shared_ptr<const ResolvedEndpoint> Resolver::find(const config::Endpoint& endpoint) const {
  for (const auto& known : known_) {
    if (auto shared = known.lock(); shared && shared->endpoint() == endpoint) return shared;
  }
  return nullptr;
}

void Resolver::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const bool refresh = !wake_.wait_for(lock, kRefresh, [this] { return stopping_ || !awaited_.empty(); });
    if (stopping_) return;
    std::erase_if(known_, [](const auto& known) { return known.expired(); });
    auto names = std::exchange(awaited_, {});
    if (refresh) names = known_;
    lock.unlock();
    for (const auto& name : names) {
      if (const auto endpoint = name.lock(); endpoint && endpoint->needs_lookup()) endpoint->look_up();
    }
    lock.lock();
  }
}

}  // namespace weir::gateway
