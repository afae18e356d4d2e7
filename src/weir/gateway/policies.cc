// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/policies.h"

#include <utility>

#include "weir/gateway/shared_store.h"
#include "weir/partners/migrations.h"
#include "weir/partners/repository.h"
#include "weir/partners/settings.h"

namespace weir::gateway {
namespace {

// Who only looks makes no tables.
partners::Session::Open looking(sql::Settings settings) {
  settings.read_only = true;
  return [open = partners::opener(std::move(settings))]() -> sql::Result<std::unique_ptr<sql::Connection>> {
    auto connection = open();
    if (!connection) return connection;
    const auto schema = partners::schema_version(**connection);
    if (!schema) return std::unexpected(schema.error());
    if (*schema < partners::kSchemaVersion) {
      return std::unexpected(sql::Error{sql::ErrorKind::kUnavailable, "its schema is older than this program"});
    }
    return connection;
  };
}

}  // namespace

bool shares_policies(const config::Config& config) {
  return config.redis && config.policies && config.policies->cache.redis && config.policies->sql.url.path.empty();
}

Result<std::unique_ptr<lookup::Directory>> open_policies(const config::Config& config, const Clock& clock,
                                                         Resolver& resolver, PoliciesUse use) {
  if (!config.policies) return nullptr;
  const config::Policies& policies = *config.policies;
  lookup::Directory::Settings settings{
      .lifetimes = {.present = policies.cache.ttl, .absent = policies.cache.absent_ttl},
      .most = policies.cache.max,
      .readers = policies.sql.connections,
      .poll = policies.poll,
      .snapshot = policies.cache.snapshot};
  const bool looks = use == PoliciesUse::kLook;
  if (looks) settings.snapshot_every = {};
  const sql::Settings database = partners::sql_settings(policies.sql);
  const partners::Session::Open opener = looks ? looking(database) : partners::opener(database);
  const auto open = [&clock, opener] {
    return std::make_unique<partners::Repository>(partners::Repository::Settings{.open = opener, .scopes = {}},
                                                  clock);
  };
  std::optional<SharedStoreSettings> redis;
  if (shares_policies(config) && !looks) {
    auto shared = shared_store_settings(*config.redis, resolver);
    if (!shared) return std::unexpected(shared.error());
    redis = *std::move(shared);
  }
  const auto open_shared = [&](const std::function<void()>& told) -> std::unique_ptr<lookup::SharedCache> {
    if (!redis) return nullptr;
    return std::make_unique<lookup::SharedCache>(clock, redis->client, config.redis->prefix, settings.lifetimes,
                                                 told);
  };
  return std::make_unique<lookup::Directory>(clock, settings, open, open_shared);
}

}  // namespace weir::gateway
