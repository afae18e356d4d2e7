// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/gateway.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <future>

#include "weir/base/log.h"
#include "weir/base/version.h"

namespace weir::gateway {
namespace {

constexpr std::uint32_t kReservedDescriptors = 64;  // admin listener, logs, epoll, the store
constexpr auto kStuckAfter = std::chrono::seconds(5);
constexpr std::size_t kSweepsPerCall = 4;
constexpr auto kWaitForKeys = std::chrono::seconds(3);  // then tokens of their issuer are answered with 503

// Every client connection may need one upstream connection. Raises the soft limit first.
std::uint32_t most_connections(std::uint32_t configured) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    ::getrlimit(RLIMIT_NOFILE, &limit);
  }
  const rlim_t usable = limit.rlim_cur > 2 * kReservedDescriptors ? limit.rlim_cur - kReservedDescriptors : 64;
  return static_cast<std::uint32_t>(std::min<rlim_t>(configured, usable / 2));
}

std::size_t available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<std::size_t>(std::max(1, CPU_COUNT(&set)));
}

// Five base-32 digits that differ between processes, and one for the worker.
std::string id_prefix(std::size_t worker) {
  constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuv";
  std::uint32_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != sizeof random) random = static_cast<std::uint32_t>(::getpid());
  std::string prefix;
  for (int i = 0; i < 5; ++i, random >>= 5) prefix.push_back(kDigits[random & 31]);
  prefix.push_back(kDigits[worker % 32]);
  return prefix;
}

std::optional<io::SocketAddress> socket_address(const config::Endpoint& endpoint) {
  return endpoint.unix_path.empty() ? io::SocketAddress::literal(endpoint.host, endpoint.port)
                                    : io::SocketAddress::unix_path(endpoint.unix_path);
}

}  // namespace

Gateway::Gateway(const Clock& clock, config::Config config)
    : clock_(clock),
      store_epoch_(clock.now()),
      store_({.max_accounts = config.store.max_accounts, .key = FingerprintKey::random()}),
      keys_(clock),
      generation_(std::make_shared<const Generation>(std::move(config), nullptr, foundations())) {
  budget_.most = most_connections(generation_->config.http.max_connections);
  last_reload_ = clock.wall().time_since_epoch().count();
}

Gateway::~Gateway() {
  for (auto& worker : workers_) {
    worker->post([&one = *worker] { one.cut_all(); });
    worker->stop();
  }
  for (auto& worker : workers_) worker->join();
  policies_.reset();  // it tells workers what it has found
  workers_.clear();
  for (const Listener& listener : listeners_) {
    if (listener.is_unix) ::unlink(listener.key.substr(listener.key.find(':') + 1).c_str());
  }
}

Result<std::unique_ptr<Gateway>> Gateway::start(config::Config config, const Clock& clock, io::SocketCalls calls) {
  std::unique_ptr<Gateway> gateway(new Gateway(clock, std::move(config)));
  const config::Config& active = gateway->config();
  if (active.log.access != "off") {
    auto log = AccessLog::open(active.log.access);
    if (!log) return std::unexpected(log.error());
    gateway->log_ = std::move(*log);
  }
  if (active.redis) {
    auto settings = shared_store_settings(*active.redis, gateway->resolver_);
    if (!settings) return std::unexpected(settings.error());
    gateway->shared_ = std::move(*settings);  // workers connect when they start, whether anybody answers or not
  }
  auto policies = open_policies(active, clock, gateway->resolver_);
  if (!policies) return std::unexpected(policies.error());
  gateway->policies_ = std::move(*policies);
  const std::size_t count = active.workers > 0 ? active.workers : available_cores();
  if (gateway->shared_) gateway->shared_->store.workers = static_cast<std::uint32_t>(count);
  for (std::size_t i = 0; i < count; ++i) {
    gateway->workers_.push_back(
        std::make_unique<Worker>(WorkerContext{.clock = clock,
                                               .store = gateway->store_,
                                               .lines = gateway->lines_,
                                               .store_epoch = gateway->store_epoch_,
                                               .budget = gateway->budget_,
                                               .shared = gateway->shared_ ? &*gateway->shared_ : nullptr,
                                               .directory = gateway->policies_.get(),
                                               .calls = calls,
                                               .log = gateway->log_ ? &gateway->log_->add_writer() : nullptr,
                                               .id_prefix = id_prefix(i)},
                                 gateway->generation_));
  }
  if (const auto& transfers = gateway->workers_.front()->transfers();
      calls == io::SocketCalls::kBatched && !transfers.batched()) {
    return invalid(fmt::format("--io io_uring: {}", transfers.obstacle()));
  }
  std::vector<Listener> opened;
  std::vector<std::vector<io::Descriptor>> sockets;
  if (auto result = gateway->open_listeners(active, opened, sockets); !result) return std::unexpected(result.error());
  gateway->keys_.wait(kWaitForKeys);
  for (auto& worker : gateway->workers_) worker->start();
  gateway->hand_out(opened, std::move(sockets));
  return gateway;
}

// Opens what the configuration names and is not open yet: a socket per worker, for Unix a duplicate.
Result<void> Gateway::open_listeners(const config::Config& config, std::vector<Listener>& opened,
                                     std::vector<std::vector<io::Descriptor>>& sockets) const {
  for (const config::Listener& wanted : config.listeners) {
    const std::string& key = wanted.address.text;
    const auto is_key = [&](const Listener& listener) { return listener.key == key; };
    if (std::ranges::any_of(listeners_, is_key) || std::ranges::any_of(opened, is_key)) continue;
    auto address = socket_address(wanted.address);
    if (!address) return invalid(fmt::format("cannot listen on {}: not an address", key));
    std::vector<io::Descriptor> per_worker;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      if (address->is_unix() && i > 0) {
        per_worker.emplace_back(::fcntl(per_worker.front().get(), F_DUPFD_CLOEXEC, 3));
        continue;
      }
      auto socket = io::open_listener(*address, i == 0 ? io::Sharing::kFirst : io::Sharing::kNext);
      if (!socket) return std::unexpected(socket.error());
      if (i == 0 && !address->is_unix())
        address = io::SocketAddress::of_socket(socket->get());  // port 0 is chosen now
      per_worker.push_back(std::move(*socket));
    }
    opened.push_back({key, *address, address->is_unix()});
    sockets.push_back(std::move(per_worker));
  }
  return {};
}

void Gateway::hand_out(const std::vector<Listener>& listeners, std::vector<std::vector<io::Descriptor>> sockets) {
  for (std::size_t i = 0; i < listeners.size(); ++i) {
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      auto socket = std::make_shared<io::Descriptor>(std::move(sockets[i][w]));
      workers_[w]->post([&worker = *workers_[w], key = listeners[i].key, socket] {
        worker.open_listener(key, std::move(*socket));
      });
    }
    listeners_.push_back(listeners[i]);
  }
}

// Runs `work` on every worker's thread and waits until all have done it.
void Gateway::on_every_worker(const std::function<void(Worker&)>& work) {
  std::vector<std::future<void>> done;
  for (auto& worker : workers_) {
    auto promise = std::make_shared<std::promise<void>>();
    done.push_back(promise->get_future());
    worker->post([&one = *worker, &work, promise] {
      work(one);
      promise->set_value();
    });
  }
  for (auto& one : done) one.wait();
}

Result<void> Gateway::reload(config::Config config) {
  config.redis = generation_->config.redis;  // the workers keep their connections
  config.policies = generation_->config.policies;
  std::vector<Listener> opened;
  std::vector<std::vector<io::Descriptor>> sockets;
  if (auto result = open_listeners(config, opened, sockets); !result) return result;
  budget_.most = most_connections(config.http.max_connections);
  auto next = std::make_shared<const Generation>(std::move(config), generation_.get(), foundations());
  keys_.wait(kWaitForKeys);
  on_every_worker([&](Worker& worker) { worker.adopt(next); });
  decide::Decider(store_, lines_).reschedule(call_now());
  hand_out(opened, std::move(sockets));
  std::erase_if(listeners_, [&](const Listener& listener) {
    const bool kept = std::ranges::any_of(next->config.listeners,
                                          [&](const auto& wanted) { return wanted.address.text == listener.key; });
    if (!kept) on_every_worker([&](Worker& worker) { worker.close_listener(listener.key); });
    if (!kept && listener.is_unix) ::unlink(listener.key.substr(listener.key.find(':') + 1).c_str());
    return !kept;
  });
  {
    const std::lock_guard lock(generation_mutex_);
    generation_ = std::move(next);
  }
  reloads_done_.fetch_add(1);
  last_reload_ = clock_.wall().time_since_epoch().count();
  return {};
}

void Gateway::drain() {
  on_every_worker([](Worker& worker) { worker.begin_drain(); });
}

// The connections are closed, and what was taken from the shared store in advance is there again.
bool Gateway::drained() const {
  if (budget_.open.load() > 0) return false;
  return std::ranges::all_of(workers_, [](const auto& worker) {
    const SharedStoreAccess* shared = std::as_const(*worker).shared_store();
    return shared == nullptr || shared->store.ahead().held() == 0;
  });
}

std::size_t Gateway::cut() {
  std::atomic<std::size_t> busy{0};
  on_every_worker([&](Worker& worker) { busy += worker.cut_all(); });
  return busy;
}

std::string Gateway::io_text() const {
  const io::TransferBatch& transfers = workers_.front()->transfers();
  if (transfers.batched()) return "receives and sends are batched by io_uring";
  return fmt::format("receives and sends are system calls of their own{}{}", transfers.obstacle().empty() ? "" : ": ",
                     transfers.obstacle());
}

limit::Call Gateway::call_now() const {
  return {.now = (clock_.now() - store_epoch_).count(), .wall = clock_.wall().time_since_epoch().count()};
}

std::shared_ptr<const Generation> Gateway::generation() const {
  const std::lock_guard lock(generation_mutex_);
  return generation_;
}

std::vector<RefusedAccount> Gateway::refused_since(WallTime since) const {
  std::vector<RefusedAccount> all;
  for (const auto& worker : workers_) std::as_const(*worker).metrics().refusals.add_to(all, since);
  return merged(std::move(all));
}

void Gateway::announce_policies() {
  if (policies_) policies_->announce();
}

void Gateway::reopen_log() {
  if (log_) log_->reopen();
}

void Gateway::sweep() {
  const limit::Call call = call_now();
  for (std::size_t i = 0; i < kSweepsPerCall; ++i) store_.sweep(call);
  keys_.prune();
}

std::vector<std::string> Gateway::addresses() const {
  std::vector<std::string> out;
  for (const Listener& listener : listeners_) out.push_back(listener.address.to_string());
  return out;
}

bool Gateway::alive() const {
  const Instant now = clock_.now();
  return std::ranges::all_of(workers_, [&](const auto& worker) { return now - worker->last_turn() < kStuckAfter; });
}

std::vector<prometheus::MetricFamily> Gateway::metrics() const {
  std::vector<const WorkerMetrics*> workers;
  std::vector<const SharedStoreAccess*> shared;
  for (const auto& worker : workers_) {
    workers.push_back(&std::as_const(*worker).metrics());
    if (worker->shared_store() != nullptr) shared.push_back(worker->shared_store());
  }
  const auto store = store_.stats();
  return collect(workers, shared,
                 {.version = std::string(kVersion),
                  .accounts = store.accounts,
                  .account_bytes = store.bytes,
                  .evictions = store.evictions,
                  .reloads_done = reloads_done_.load(),
                  .reloads_failed = reloads_failed_.load(),
                  .last_reload_seconds = static_cast<double>(last_reload_.load()) * 1e-9,
                  .access_log_written = log_ ? log_->written() : 0,
                  .access_log_dropped = log_ ? log_->dropped() : 0,
                  .keys = keys_.figures(),
                  .policies = policies_ ? std::optional(policies_->stats()) : std::nullopt});
}

}  // namespace weir::gateway
