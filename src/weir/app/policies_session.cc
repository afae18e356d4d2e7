// SPDX-License-Identifier: Apache-2.0
#include "weir/app/policies_session.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <utility>

#include "weir/app/commands.h"
#include "weir/app/store_session.h"
#include "weir/config/load.h"
#include "weir/gateway/policies.h"
#include "weir/lookup/shared_cache.h"
#include "weir/partners/settings.h"

namespace weir::app {
namespace {

// A person waits longer than a request.
constexpr nanoseconds kPatience = std::chrono::seconds(10);

partners::Repository::Settings repository_settings(const config::Config& config) {
  sql::Settings settings = partners::sql_settings(config.policies->sql);
  settings.timeout = std::max(settings.timeout, kPatience);
  return {.open = partners::opener(std::move(settings)), .scopes = partners::scopes_of(config)};
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string("localhost");
}

}  // namespace

PoliciesSession::PoliciesSession(config::Config config)
    : config_(std::move(config)), repository_(repository_settings(config_), clock_) {}

std::expected<std::unique_ptr<PoliciesSession>, int> PoliciesSession::open(const std::string& file) {
  std::signal(SIGPIPE, SIG_IGN);  // a database that goes away is an answer like others
  auto loaded = config::load_file(file, environment_variable);
  if (!loaded) {
    for (const config::Diagnostic& one : loaded.error()) std::fputs(config::to_text(one).c_str(), stderr);
    return std::unexpected(kUnusableConfiguration);
  }
  if (!loaded->config.policies) {
    std::fprintf(stderr, "%s: there is no `policies`: which database is meant is said by policies.sql.url\n",
                 file.c_str());
    return std::unexpected(kWrongUsage);
  }
  return std::unique_ptr<PoliciesSession>(new PoliciesSession(std::move(loaded->config)));
}

void PoliciesSession::announce() const {
  if (!gateway::shares_policies(config_)) return;
  const auto session = StoreSession::open(*config_.redis);
  if (session) (*session)->publish(lookup::channel_of(config_.redis->prefix), "changed");
}

int PoliciesSession::tell(const partners::Refusal& refusal) const {
  using Kind = partners::Refusal::Kind;
  if (!refusal.faults.empty()) {
    for (const partners::Fault& fault : refusal.faults) std::fprintf(stderr, "%s\n", to_text(fault).c_str());
  } else if (refusal.kind == Kind::kUnavailable || refusal.kind == Kind::kUnknown ||
             refusal.kind == Kind::kUnusable) {
    std::fprintf(stderr, "the database at %s: %s\n", database().c_str(), refusal.message.c_str());
  } else {
    std::fprintf(stderr, "%s\n", refusal.message.c_str());
  }
  return kFailed;
}

std::string process_author() {
  const passwd* user = ::getpwuid(::geteuid());  // NOLINT(concurrency-mt-unsafe): a command has one thread
  const std::string name = user != nullptr ? user->pw_name : fmt::format("uid {}", ::geteuid());
  return fmt::format("{}@{}", name, host_name());
}

}  // namespace weir::app
