// SPDX-License-Identifier: Apache-2.0
//
// The store that all gateways share, as this process reaches it. Thread safety: settings are immutable; access
// belongs to a worker's loop, its counters may be read by any thread.
#pragma once

#include <string>

#include "weir/base/clock.h"
#include "weir/base/result.h"
#include "weir/config/config.h"
#include "weir/decide/decider.h"
#include "weir/gateway/resolver.h"
#include "weir/redis/client.h"
#include "weir/redis/subscriber.h"
#include "weir/store/redis/redis_store.h"

namespace weir::gateway {

// How the workers reach the store that all gateways share.
struct SharedStoreSettings {
  redis::ClientSettings client;
  store::RedisStore::Settings store;
};

// What the configuration says of it; looks up the names of its servers. Fails when the certificates cannot be used.
// `resolver` outlives the settings.
Result<SharedStoreSettings> shared_store_settings(const config::Redis& redis, Resolver& resolver);

// A worker's own connections to it.
struct SharedStoreAccess {
  SharedStoreAccess(io::EventLoop& loop, const SharedStoreSettings& settings);

  // Connects, and hears what others give back.
  void start() {
    client.start();
    subscriber.start();
  }
  // Everybody who waits for an answer fails.
  void shut() {
    subscriber.shut();
    client.shut();
  }

  redis::Counters counters;
  redis::Client client;
  store::RedisStore store;
  redis::Subscriber subscriber;
  decide::Decider::Shared shared;
};

}  // namespace weir::gateway
