// SPDX-License-Identifier: Apache-2.0
#include "weir/explain/rehearsal.h"

#include <chrono>
#include <future>
#include <utility>

namespace weir::explain {
namespace {

constexpr auto kWaitForKeys = std::chrono::seconds(3);  // as a gateway does
constexpr std::uint64_t kMostAccounts = 1000;           // there is one request

io::Detached run(io::Task<void> task, io::EventLoop& loop) {
  co_await task;
  loop.stop();
}

}  // namespace

Rehearsal::Rehearsal(config::Config config, const Clock& clock)
    : times_{clock.now(), clock.wall()},
      keys_(clock),
      store_({.max_accounts = kMostAccounts, .key = FingerprintKey::random()}),
      loop_(clock),
      generation_(std::make_shared<const gateway::Generation>(
          std::move(config), nullptr, gateway::Foundations{row_numbers_, store_, resolver_, keys_})),
      worker_(generation_, hosts_, metrics_),
      clock_(clock) {}

Result<std::unique_ptr<Rehearsal>> Rehearsal::open(config::Config config, const Clock& clock) {
  std::unique_ptr<Rehearsal> rehearsal(new Rehearsal(std::move(config), clock));
  if (const auto connected = rehearsal->connect(); !connected) return std::unexpected(connected.error());
  rehearsal->keys_.wait(kWaitForKeys);
  return rehearsal;
}

Result<void> Rehearsal::connect() {
  const config::Config& config = generation_->config;
  auto directory = gateway::open_policies(config, clock_, resolver_, gateway::PoliciesUse::kLook);
  if (!directory) return std::unexpected(directory.error());
  directory_ = std::move(*directory);
  if (config.redis) {
    auto settings = gateway::shared_store_settings(*config.redis, resolver_);
    if (!settings) return std::unexpected(settings.error());
    settings_ = std::move(*settings);
    shared_ = std::make_unique<gateway::SharedStoreAccess>(loop_, *settings_);
  }
  pipeline_.emplace(store_, lines_, shared_ ? &shared_->shared : nullptr, directory_.get(), clock_, times_.now);
  return {};
}

// As a session does.
gateway::Verdict Rehearsal::judge(const http::RequestHead& head, const identity::Peer& peer) {
  gateway::LookedUp looked_up(directory_ != nullptr);
  for (;;) {
    const gateway::Arrived request{head, peer, times_, looked_up};
    gateway::Verdict verdict = pipeline_->judge(worker_, request, *scratch_, decision_, metrics_, *this);
    if (verdict.kind != gateway::Verdict::Kind::kLookUp) return verdict;
    looked_up_ = true;
    std::promise<lookup::KnownPtr> read;
    directory_->want(*scratch_->wanted, [&read](lookup::KnownPtr known) { read.set_value(std::move(known)); });
    lookup::KnownPtr known = read.get_future().get();
    if (known == nullptr) database_failed_ = true;
    looked_up.add(*scratch_->wanted, std::move(known));
  }
}

void Rehearsal::decide_without_store(gateway::Verdict& verdict) {
  loop_.post(
      [&] { run(pipeline_->decide(worker_, scratch_->charges, times_, decision_, metrics_, verdict), loop_); });
  loop_.run();
}

}  // namespace weir::explain
