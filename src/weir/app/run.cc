// SPDX-License-Identifier: Apache-2.0
//
// The wiring of `weir run`: configuration, gateway, admin listener, signals. Reading this file is reading the system.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>

#include "weir/admin/admin.h"
#include "weir/app/admin_sources.h"
#include "weir/app/commands.h"
#include "weir/app/signals.h"
#include "weir/base/clock.h"
#include "weir/base/log.h"
#include "weir/base/version.h"
#include "weir/config/load.h"
#include "weir/gateway/gateway.h"

namespace weir::app {
namespace {

constexpr auto kTick = std::chrono::milliseconds(100);

void print(const std::vector<config::Diagnostic>& diagnostics) {
  for (const config::Diagnostic& one : diagnostics) std::fputs(config::to_text(one).c_str(), stderr);
}

LogLevel log_level(config::Log::Level level) {
  switch (level) {
    case config::Log::Level::kDebug:
      return LogLevel::kDebug;
    case config::Log::Level::kInfo:
      return LogLevel::kInfo;
    case config::Log::Level::kWarn:
      return LogLevel::kWarn;
    case config::Log::Level::kError:
      return LogLevel::kError;
  }
  return LogLevel::kInfo;
}

Result<std::unique_ptr<admin::Admin>> start_admin(const config::Admin& settings, gateway::Gateway& gateway,
                                                  const std::atomic<bool>& draining, const Clock& clock) {
  const auto address = settings.address.unix_path.empty()
                           ? io::SocketAddress::literal(settings.address.host, settings.address.port)
                           : io::SocketAddress::unix_path(settings.address.unix_path);
  if (!address) return invalid(fmt::format("cannot listen on {}: not an address", settings.address.text));
  return admin::Admin::start(*address, settings.token, admin_sources(gateway, draining), clock);
}

// What a reload cannot change is said, not silently ignored.
void warn_about_fixed_settings(const config::Config& before, const config::Config& after) {
  const auto admin_text = [](const config::Config& config) { return config.admin ? config.admin->address.text : ""; };
  if (admin_text(before) != admin_text(after))
    log_warn("admin.address changes with the next start, not with a reload");
  if (before.workers != after.workers) log_warn("workers changes with the next start, not with a reload");
  if (before.log.access != after.log.access) log_warn("log.access changes with the next start, not with a reload");
  if (before.redis != after.redis) log_warn("store.redis changes with the next start, not with a reload");
  if (before.policies != after.policies) log_warn("policies changes with the next start, not with a reload");
  if (before.store.max_accounts != after.store.max_accounts) {
    log_warn("store.memory.max_accounts changes with the next start, not with a reload");
  }
}

void reload(const std::string& file, gateway::Gateway& gateway, admin::Admin* admin) {
  auto loaded = config::load_file(file, environment_variable);
  if (!loaded) {
    print(loaded.error());
    gateway.reload_failed();
    log_error("reload refused: {} has faults ({}); the configuration in force stays", file, loaded.error().size());
    return;
  }
  print(loaded->warnings);
  warn_about_fixed_settings(gateway.config(), loaded->config);
  const LogLevel level = log_level(loaded->config.log.level);
  const auto admin_settings = loaded->config.admin;
  if (const auto done = gateway.reload(std::move(loaded->config)); !done) {
    gateway.reload_failed();
    log_error("reload refused: {}; the configuration in force stays", done.error().message);
    return;
  }
  if (admin != nullptr && admin_settings) admin->set_token(admin_settings->token);
  set_log_level(level);
  log_info("reloaded {} (generation {})", file, gateway.reloads() + 1);
}

// Waits for `time`, or until everything is done; a second signal ends at once.
bool wait_drained(const Signals& signals, const gateway::Gateway& gateway, std::chrono::nanoseconds time,
                  bool until_drained) {
  const auto end = SystemClock().now() + time;
  while (SystemClock().now() < end && !(until_drained && gateway.drained())) {
    const auto signal = signals.wait(std::chrono::milliseconds(10));
    if (signal && (*signal == SIGTERM || *signal == SIGINT)) return false;
  }
  return true;
}

int shut_down(const Signals& signals, gateway::Gateway& gateway, std::atomic<bool>& draining) {
  const config::Shutdown settings = gateway.config().shutdown;
  draining = true;
  log_info("draining: requests under way have {} s", settings.timeout.count() / 1'000'000'000);
  if (!wait_drained(signals, gateway, settings.delay, /*until_drained=*/false)) return kDone;
  gateway.drain();
  if (!wait_drained(signals, gateway, settings.timeout, /*until_drained=*/true)) return kDone;
  if (const std::size_t cut = gateway.cut(); cut > 0) log_warn("{} requests were cut at the end of the drain", cut);
  log_info("stopped");
  return kDone;
}

}  // namespace

int run_gateway(const std::string& file, io::SocketCalls calls) {
  auto loaded = config::load_file(file, environment_variable);
  if (!loaded) {
    print(loaded.error());
    return kUnusableConfiguration;
  }
  print(loaded->warnings);
  set_log_level(log_level(loaded->config.log.level));

  const Signals signals{SIGTERM, SIGINT, SIGHUP, SIGUSR1};
  const SystemClock clock;
  std::atomic<bool> draining{false};
  auto gateway = gateway::Gateway::start(std::move(loaded->config), clock, calls);
  if (!gateway) {
    log_error("{}", gateway.error().message);
    return kFailed;
  }
  log_info("{}", (*gateway)->io_text());
  std::unique_ptr<admin::Admin> admin;
  if (const auto& settings = (*gateway)->config().admin) {
    auto started = start_admin(*settings, **gateway, draining, clock);
    if (!started) {
      log_error("{}", started.error().message);
      return kFailed;
    }
    admin = std::move(*started);
    log_info("admin on {}", admin->address());
  }
  for (const std::string& address : (*gateway)->addresses()) log_info("weir {} listens on {}", kVersion, address);

  for (;;) {
    const auto signal = signals.wait(kTick);
    if (!signal) (*gateway)->sweep();
    if (signal == SIGHUP) reload(file, **gateway, admin.get());
    if (signal == SIGUSR1) (*gateway)->reopen_log();
    if (signal == SIGTERM || signal == SIGINT) return shut_down(signals, **gateway, draining);
  }
}

}  // namespace weir::app
