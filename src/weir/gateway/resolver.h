// SPDX-License-Identifier: Apache-2.0
//
// Names of upstreams and stores to addresses. The system's resolver blocks, so it runs on a thread of its own, which
// asks again for every name in use every 30 seconds; a failed look-up keeps the old addresses. Literal addresses and
// Unix paths need no thread. Thread safety: any thread.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "weir/config/config.h"
#include "weir/io/socket_address.h"

namespace weir::gateway {

// The addresses of one endpoint, as last seen.
class ResolvedEndpoint {
 public:
  explicit ResolvedEndpoint(config::Endpoint endpoint);

  const config::Endpoint& endpoint() const { return endpoint_; }
  // Empty while the name has not resolved yet.
  std::shared_ptr<const std::vector<io::SocketAddress>> addresses() const;

 private:
  friend class Resolver;
  bool needs_lookup() const { return needs_lookup_; }
  void look_up();

  config::Endpoint endpoint_;
  bool needs_lookup_ = false;
  mutable std::mutex mutex_;
  std::shared_ptr<const std::vector<io::SocketAddress>> addresses_;
};

class Resolver {
 public:
  Resolver();
  ~Resolver();

  // The endpoint, looked up for the first time before this returns when it is a name. It is kept fresh for as long as
  // somebody holds it; equal endpoints are shared.
  std::shared_ptr<const ResolvedEndpoint> resolve(const config::Endpoint& endpoint);
  // The same without waiting for the look-up.
  std::shared_ptr<const ResolvedEndpoint> resolve_soon(const config::Endpoint& endpoint);

 private:
  std::shared_ptr<const ResolvedEndpoint> find(const config::Endpoint& endpoint) const;
  void run();

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::vector<std::weak_ptr<ResolvedEndpoint>> known_;
  std::vector<std::weak_ptr<ResolvedEndpoint>> awaited_;  // of these, what was not looked up yet
  std::thread thread_;
};

}  // namespace weir::gateway
