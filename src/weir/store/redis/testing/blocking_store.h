// SPDX-License-Identifier: Apache-2.0
//
// For tests: a RedisStore on a loop of its own thread, whose calls wait for the answer; and a clock for several.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "weir/base/clock.h"
#include "weir/redis/subscriber.h"
#include "weir/store/redis/redis_store.h"

namespace weir::store::testing {

// Stands still until it is told to move. Thread safe.
class SteppedClock final : public Clock {
 public:
  Instant now() const override { return Instant{} + nanoseconds(now_.load()); }
  WallTime wall() const override { return WallTime{} + nanoseconds(kBegin + now_.load()); }
  void advance(nanoseconds by) { now_ += by.count(); }

 private:
  static constexpr std::int64_t kBegin = 1'796'000'000'000'000'000;
  std::atomic<std::int64_t> now_{3'600'000'000'000};
};

class BlockingStore {
 public:
  // `time`: another clock than the machine's; outlives the store.
  BlockingStore(std::vector<redis::Address> seeds, RedisStore::Clock clock,
                nanoseconds budget = std::chrono::seconds(10), const std::string& channel = {},
                const Clock* time = nullptr, std::uint32_t workers = 1)
      : clock_(time == nullptr ? system_ : *time),
        settings_{.seeds = std::move(seeds),
                  .node = {.budget = budget, .scripts = RedisStore::scripts(), .resolve = resolve}},
        loop_(clock_),
        client_(loop_, settings_, counters_),
        store_(client_, {.budget = budget, .clock = clock, .channel = channel, .workers = workers}),
        subscriber_(loop_, settings_.node, channel,
                    {.servers = [this] { return client_.servers(); },
                     .message = [this](std::string_view account) { store_.told(account); },
                     .changed = [this](bool live) { store_.set_told(live); }},
                    counters_),
        thread_([this] { loop_.run(); }) {
    loop_.post([this, listens = !channel.empty()] {
      client_.start();
      if (listens) subscriber_.start();
    });
  }
  ~BlockingStore() {
    loop_.post([this] {
      subscriber_.shut();
      client_.shut();
    });
    loop_.stop();
    thread_.join();
  }

  Asked acquire(const RedisKind& kind, std::string_view name, std::span<const Charge> charges,
                const limit::Call& call, std::span<limit::Outcome> outcomes) {
    return wait(Asked::kFailed,
                [&] { return store_.acquire({kind, name}, charges, call, outcomes, store_.deadline()); });
  }
  bool recall(const RedisKind& kind, std::string_view name, std::span<const Charge> charges, const limit::Call& call,
              std::span<limit::Outcome> outcomes) {
    std::promise<bool> recalled;
    loop_.post([&] { recalled.set_value(store_.recall({kind, name}, charges, call, outcomes)); });
    return recalled.get_future().get();
  }
  // So many equal requests in one turn of the loop, in their order.
  struct Answered {
    Asked asked = Asked::kFailed;
    std::vector<limit::Outcome> outcomes;
  };
  std::vector<Answered> acquire_together(std::size_t count, const RedisKind& kind, std::string_view name,
                                         std::span<const Charge> charges, const limit::Call& call) {
    std::vector<Answered> answers(count, {Asked::kFailed, std::vector<limit::Outcome>(charges.size())});
    std::promise<void> done;
    std::size_t left = count;
    loop_.post([&] {
      for (Answered& answer : answers) ask_for({kind, name}, charges, call, answer, left, done);
    });
    done.get_future().wait();
    return answers;
  }
  bool adjust(const RedisKind& kind, std::string_view name, std::span<const Adjustment> adjustments,
              const limit::Call& call, std::span<limit::Outcome> outcomes) {
    return wait(false, [&] { return store_.adjust({kind, name}, adjustments, call, outcomes); });
  }
  std::optional<bool> renew(const RedisKind& kind, std::string_view name, std::span<const Charge> charges,
                            const limit::Call& call) {
    return wait(std::optional<bool>(), [&] { return store_.renew({kind, name}, charges, call); });
  }
  bool reset(const RedisKind& kind, std::string_view name) {
    return wait(false, [&] { return store_.reset({kind, name}); });
  }
  // Timers that are due by now are handled.
  void turn() {
    for (int i = 0; i < 2; ++i) {
      std::promise<void> done;
      loop_.post([&done] { done.set_value(); });
      done.get_future().wait();
    }
  }
  void begin_anew() {
    loop_.post([this] { store_.begin_anew(); });
    turn();
  }
  void close() {
    loop_.post([this] { store_.close(); });
    turn();
  }
  const Bundles::Counters& ahead() const { return store_.ahead(); }
  // Returns when `work` has begun whatever it begins.
  void run(const std::function<void(RedisStore&)>& work) {
    std::promise<void> done;
    loop_.post([&] {
      work(store_);
      done.set_value();
    });
    done.get_future().wait();
  }
  const redis::Counters& counters() const { return counters_; }
  WallTime wall() const { return clock_.wall(); }

 private:
  static std::vector<io::SocketAddress> resolve(const redis::Address& address) {
    const auto found = address.unix_path.empty() ? io::SocketAddress::literal(address.host, address.port)
                                                 : io::SocketAddress::unix_path(address.unix_path);
    return found ? std::vector{*found} : std::vector<io::SocketAddress>();
  }

  io::Detached ask_for(RedisStore::Account account, std::span<const Charge> charges, limit::Call call,
                       Answered& answer, std::size_t& left, std::promise<void>& done) {
    answer.asked = co_await store_.acquire(account, charges, call, answer.outcomes, store_.deadline());
    if (--left == 0) done.set_value();
  }

  template <class T, class Start>
  T wait(T, Start start) {
    std::promise<T> promise;
    auto future = promise.get_future();
    loop_.post([&] { run(start, promise); });
    return future.get();
  }
  template <class T, class Start>
  static io::Detached run(Start& start, std::promise<T>& promise) {
    promise.set_value(co_await start());
  }

  SystemClock system_;
  const Clock& clock_;
  redis::Counters counters_;
  redis::ClientSettings settings_;
  io::EventLoop loop_;
  redis::Client client_;
  RedisStore store_;
  redis::Subscriber subscriber_;
  std::thread thread_;
};

}  // namespace weir::store::testing
