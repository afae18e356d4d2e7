// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/resolver.h"

#include <netdb.h>

#include <chrono>

#include "weir/base/log.h"

namespace weir::gateway {
namespace {

constexpr auto kRefresh = std::chrono::seconds(30);

std::vector<io::SocketAddress> system_lookup(const config::Endpoint& endpoint) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | AI_ADDRCONFIG;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &hints, &found);
  if (failed != 0) {
    log_warn("cannot resolve upstream host {}: {}", endpoint.host, ::gai_strerror(failed));
    return {};
  }
  std::vector<io::SocketAddress> addresses;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    sockaddr_storage storage{};
    __builtin_memcpy(&storage, one->ai_addr, one->ai_addrlen);
    addresses.push_back(io::SocketAddress::from(storage, one->ai_addrlen));
  }
  ::freeaddrinfo(found);
  return addresses;
}

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
  auto found = system_lookup(endpoint_);
  if (found.empty()) return;
  auto fresh = std::make_shared<const std::vector<io::SocketAddress>>(std::move(found));
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
    for (const auto& known : known_) {
      if (auto shared = known.lock(); shared && shared->endpoint() == endpoint) return shared;
    }
  }
  auto fresh = std::make_shared<ResolvedEndpoint>(endpoint);
  if (fresh->needs_lookup()) fresh->look_up();
  const std::scoped_lock lock(mutex_);
  known_.push_back(fresh);
  return fresh;
}

void Resolver::run() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kRefresh, [this] { return stopping_; })) {
    std::erase_if(known_, [](const auto& known) { return known.expired(); });
    const auto names = known_;
    lock.unlock();
    for (const auto& name : names) {
      if (const auto endpoint = name.lock(); endpoint && endpoint->needs_lookup()) endpoint->look_up();
    }
    lock.lock();
  }
}

}  // namespace weir::gateway
