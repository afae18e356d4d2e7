// SPDX-License-Identifier: Apache-2.0
#include "weir/app/store_session.h"

#include <algorithm>
#include <cstdio>

#include "weir/accounts/counters.h"
#include "weir/app/commands.h"
#include "weir/config/load.h"

namespace weir::app {

Result<std::unique_ptr<StoreSession>> StoreSession::open(const config::Redis& redis) {
  config::Redis patient = redis;
  patient.budget = std::max(redis.budget, kBudget);
  auto resolver = std::make_unique<gateway::Resolver>();
  auto settings = gateway::shared_store_settings(patient, *resolver);
  if (!settings) return std::unexpected(settings.error());
  return std::unique_ptr<StoreSession>(new StoreSession(std::move(resolver), std::move(*settings)));
}

namespace {

io::Task<bool> tell(redis::Client& client, const redis::Command& command, const std::string& channel) {
  const Instant deadline = client.loop().now() + StoreSession::kTelling;
  const redis::Answer answer = co_await client.ask(channel, command, deadline);
  co_return answer.answered();
}

}  // namespace

void StoreSession::publish(const std::string& channel, const std::string& message) {
  const redis::Command command{"PUBLISH", channel, message};
  wait(tell(access_.client, command, channel));
}

std::expected<AccountQuestion, int> ask_about(const std::string& file, const std::string& account) {
  auto loaded = config::load_file(file, environment_variable);
  for (const config::Diagnostic& one : loaded ? loaded->warnings : loaded.error()) {
    std::fputs(config::to_text(one).c_str(), stderr);
  }
  if (!loaded) return std::unexpected(kUnusableConfiguration);
  if (!loaded->config.redis) {
    std::fprintf(stderr, "%s: there is no store.redis: accounts are in the memory of each gateway, and end with it\n",
                 file.c_str());
    return std::unexpected(kWrongUsage);
  }
  const auto name = accounts::account_text(loaded->config.redis->prefix, account);
  if (!name) {
    std::fprintf(stderr, "%s: %s\n", account.c_str(), name.error().message.c_str());
    return std::unexpected(kWrongUsage);
  }
  auto session = StoreSession::open(*loaded->config.redis);
  if (!session) {
    print_failure(*loaded->config.redis, session.error());
    return std::unexpected(kFailed);
  }
  std::vector<policy::CountedKind> kinds = policy::account_directory(loaded->config);
  std::erase_if(kinds, [&](const policy::CountedKind& kind) { return kind.per.size() != name->values(); });
  std::vector<const store::RedisKind*> layouts;
  for (const policy::CountedKind& kind : kinds) layouts.push_back(&kind.kind);
  return AccountQuestion{.config = std::move(loaded->config),
                         .account = *name,
                         .kinds = std::move(kinds),
                         .layouts = std::move(layouts),
                         .session = std::move(*session)};
}

std::string servers_text(const config::Redis& redis) {
  std::string servers;
  for (const config::RedisUrl& url : redis.urls) servers += (servers.empty() ? "" : ", ") + url.server.text;
  return servers;
}

void print_failure(const config::Redis& redis, const Error& error) {
  std::fprintf(stderr, "the store at %s: %s\n", servers_text(redis).c_str(), error.message.c_str());
}

}  // namespace weir::app
