// SPDX-License-Identifier: Apache-2.0
#include "weir/explain/rehearsal.h"

#include <algorithm>
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
  const config::Config& config = generation_->config;
  const Instant until = clock_.now() + (config.policies ? config.policies->budget : nanoseconds());
  looked_up_ = gateway::LookedUp(directory_ != nullptr);
  for (;;) {
    const gateway::Arrived request{head, peer, times_, looked_up_};
    gateway::Verdict verdict = pipeline_->judge(worker_, request, *scratch_, decision_, metrics_, *this);
    if (verdict.kind != gateway::Verdict::Kind::kLookUp) {
      looked_up_.wait_no_more();
      return verdict;
    }
    looked_up_.add(*scratch_->wanted, look_up(*scratch_->wanted, until));
  }
}

// The answer may come when nobody waits for it any more.
lookup::KnownPtr Rehearsal::look_up(const partners::Subject& subject, Instant until) {
  look_ups_.wanted = true;
  const auto answered = std::make_shared<std::promise<lookup::KnownPtr>>();
  std::future<lookup::KnownPtr> answer = answered->get_future();
  directory_->want(subject, [answered](lookup::KnownPtr known) { answered->set_value(std::move(known)); });
  const nanoseconds time = std::max(until + kMargin - clock_.now(), nanoseconds());
  look_ups_.too_late = answer.wait_for(time) != std::future_status::ready;
  lookup::KnownPtr known = look_ups_.too_late ? nullptr : answer.get();
  look_ups_.failed = known == nullptr;
  look_ups_.late = look_ups_.late || clock_.now() > until;
  return known;
}

void Rehearsal::decide_without_store(gateway::Verdict& verdict) {
  loop_.post(
      [&] { run(pipeline_->decide(worker_, scratch_->charges, times_, decision_, metrics_, verdict), loop_); });
  loop_.run();
}

}  // namespace weir::explain
