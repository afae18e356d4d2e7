// SPDX-License-Identifier: Apache-2.0
//
// What stores tell each other: who remembers a refusal hears of everything that ends it early, and nobody hears of
// what cannot.
#include <gtest/gtest.h>

#include <array>
#include <future>
#include <string>
#include <vector>

#include "weir/limit/testing/random_trace.h"
#include "weir/redis/testing/redis_cluster.h"
#include "weir/redis/testing/redis_server.h"
#include "weir/store/redis/account_text.h"
#include "weir/store/redis/testing/blocking_store.h"

namespace weir::store {
namespace {

using limit::Cost;
using limit::Limit;
using limit::Outcome;
using limit::Ticks;
using redis::testing::eventually;
using redis::testing::RedisCluster;
using redis::testing::RedisServer;
using testing::BlockingStore;

constexpr Ticks kSecond = 1'000'000'000;
constexpr Ticks kHour = 3600 * kSecond;
constexpr nanoseconds kBudget = std::chrono::seconds(10);
const std::string kChannel = "weir:room";

std::vector<redis::Address> seed(const RedisServer& server) {
  return {{.host = {}, .port = 0, .unix_path = server.unix_path()}};
}

RedisKind kind_of(const Limit& limit, Cost largest_cost = 1) {
  return RedisKind({.kind = "kind", .slots = {{"limit", {limit}, largest_cost}}});
}

// Commands and scripts together have published so often.
int published(RedisServer& server) {
  const std::string stats = server.command({"INFO", "commandstats"});
  const std::string field = "cmdstat_publish:calls=";
  const std::size_t at = stats.find(field);
  return at == stats.npos ? 0 : std::stoi(stats.substr(at + field.size()));
}

class Gateway : public BlockingStore {
 public:
  explicit Gateway(std::vector<redis::Address> seeds, RedisStore::Clock clock = RedisStore::Clock::kServer)
      : BlockingStore(std::move(seeds), clock, kBudget, kChannel) {}

  Gateway& wait_until_told() {
    eventually("the subscription", [&] { return counters().live_subscriptions.value() == 1; });
    return *this;
  }
  Outcome take(const RedisKind& kind, std::string_view name, Cost cost = 1) {
    const std::array<Charge, 1> charges{{{.cost = cost}}};
    std::array<Outcome, 1> after;
    EXPECT_NE(acquire(kind, name, charges, {.now = kAsked}, after), Asked::kFailed);
    return after[0];
  }
  // Takes until it is refused; what it was told of the last charge.
  Outcome exhaust(const RedisKind& kind, std::string_view name, Cost cost = 1) {
    for (Outcome last;;) {
      const Outcome next = take(kind, name, cost);
      if (!next.admitted) return last;
      last = next;
    }
  }
  bool give_back(const RedisKind& kind, std::string_view name, Cost units, const Outcome& taken, Ticks at = 0) {
    const std::array<Adjustment, 1> back{{{.by = -units, .at = at == 0 ? taken.at : at}}};
    return adjust(kind, name, back, {}, {});
  }
  // Whether it is refused without asking, so long after it was.
  bool remembers(const RedisKind& kind, std::string_view name, Ticks later = 0, Cost cost = 1) {
    const std::array<Charge, 1> charges{{{.cost = cost}}};
    std::array<Outcome, 1> after;
    return recall(kind, name, charges, {.now = kAsked + later}, after);
  }
  void wait_until_forgotten(const RedisKind& kind, std::string_view name) {
    eventually("the news", [&] { return !remembers(kind, name); });
  }

 private:
  static constexpr Ticks kAsked = kHour;
};

Limit bucket(std::int64_t count, Ticks period, Cost capacity) {
  return limit::TokenBucket::create({.count = count, .period = period, .capacity = capacity}).value();
}

struct Named {
  std::string name;
  Limit limit;
};

// Each holds five, and none lets one in within a minute.
std::vector<Named> all_limits() {
  const auto calendar = limit::CivilCalendar::create({.unit = limit::CivilCalendar::Unit::kYear}).value();
  return {{"bucket", bucket(1, kHour, 5)},
          {"fractions", bucket(7, 24 * kHour, 5)},
          {"line", limit::LeakyBucket::create({.count = 1, .period = kHour, .queue = 4}).value()},
          {"fixed", limit::FixedWindow::create({.capacity = 5, .alignment = {.window = 9000 * kHour}}).value()},
          {"sliding", limit::SlidingWindow::create({.capacity = 5, .alignment = {.window = 9000 * kHour}}).value()},
          {"calendar", limit::CalendarQuota::create({.capacity = 5}, calendar).value()},
          {"log", limit::SlidingLog::create({.capacity = 5, .window = 24 * kHour}).value()}};
}

// By which the charge of this outcome is given back; in a line, if it is the last one.
Ticks place_of(const Limit& limit, const Outcome& last) {
  return limit.holds<limit::LeakyBucket>() ? last.at + last.reset_after : last.at;
}

class TellingTest : public ::testing::Test {
 protected:
  RedisServer server;
};

TEST_F(TellingTest, ARefusalIsRememberedUntilItEndsButForAMinuteAtMost) {
  Gateway gateway(seed(server));
  gateway.wait_until_told();
  const RedisKind slow = kind_of(bucket(1, kHour, 1));
  gateway.exhaust(slow, "slow");
  EXPECT_TRUE(gateway.remembers(slow, "slow", 60 * kSecond - 1));
  EXPECT_FALSE(gateway.remembers(slow, "slow", 60 * kSecond));
  const RedisKind quick = kind_of(bucket(1, 20 * kSecond, 1));
  gateway.exhaust(quick, "quick");
  EXPECT_TRUE(gateway.remembers(quick, "quick", 10 * kSecond));
  EXPECT_FALSE(gateway.remembers(quick, "quick", 20 * kSecond));
}

TEST_F(TellingTest, WithoutNewsItIsRememberedForASecond) {
  BlockingStore alone(seed(server), RedisStore::Clock::kServer);
  const RedisKind kind = kind_of(bucket(1, kHour, 1));
  const std::array<Charge, 1> charges{{{}}};
  std::array<Outcome, 1> after;
  for (int i = 0; i < 2; ++i) alone.acquire(kind, "a", charges, {}, after);
  EXPECT_TRUE(alone.recall(kind, "a", charges, {.now = kSecond - 1}, after));
  EXPECT_FALSE(alone.recall(kind, "a", charges, {.now = kSecond}, after));
}

TEST_F(TellingTest, WhatAnotherGivesBackIsToldWhateverTheAlgorithm) {
  Gateway refused(seed(server));
  Gateway other(seed(server));
  refused.wait_until_told();
  for (const Named& one : all_limits()) {
    SCOPED_TRACE(one.name);
    const RedisKind kind = kind_of(one.limit);
    const Outcome last = other.exhaust(kind, one.name);
    EXPECT_FALSE(refused.take(kind, one.name).admitted);
    EXPECT_TRUE(refused.remembers(kind, one.name, 30 * kSecond));
    EXPECT_TRUE(other.give_back(kind, one.name, 1, last, place_of(one.limit, last)));
    refused.wait_until_forgotten(kind, one.name);
    EXPECT_TRUE(refused.take(kind, one.name).admitted);
  }
}

TEST_F(TellingTest, NothingIsToldWhileNobodyCanHaveBeenRefused) {
  Gateway gateway(seed(server));
  for (const Named& one : all_limits()) {
    SCOPED_TRACE(one.name);
    const RedisKind kind = kind_of(one.limit);
    Outcome last;
    for (int i = 0; i < 4; ++i) last = gateway.take(kind, one.name);
    const int before = published(server);
    EXPECT_TRUE(gateway.give_back(kind, one.name, 1, last, place_of(one.limit, last)));
    EXPECT_EQ(published(server), before) << "there was room for one";
    last = gateway.exhaust(kind, one.name);
    EXPECT_TRUE(gateway.give_back(kind, one.name, 1, last, place_of(one.limit, last)));
    EXPECT_EQ(published(server), before + 1);
  }
}

TEST_F(TellingTest, RoomIsWhatTheLargestCostNeeds) {
  Gateway gateway(seed(server));
  for (const Named& one : all_limits()) {
    if (one.limit.holds<limit::LeakyBucket>()) continue;
    SCOPED_TRACE(one.name);
    const RedisKind kind = kind_of(one.limit, 3);
    const Outcome two = gateway.take(kind, one.name, 2);
    const int before = published(server);
    EXPECT_TRUE(gateway.give_back(kind, one.name, 1, two));
    EXPECT_EQ(published(server), before) << "three were left";
    const Outcome next = gateway.take(kind, one.name, 2);
    EXPECT_TRUE(gateway.give_back(kind, one.name, 1, next));
    EXPECT_EQ(published(server), before + 1) << "two were left";
  }
}

TEST_F(TellingTest, NeitherWhatIsTakenNorWhatIsNotThereNorLeasesAreTold) {
  Gateway gateway(seed(server));
  const RedisKind kind =
      kind_of(limit::TokenBucket::create({.count = 1, .period = kHour, .capacity = 1, .debt = 5}).value());
  const Outcome taken = gateway.take(kind, "a");
  const std::array<Adjustment, 1> more{{{.by = 2, .at = taken.at}}};
  EXPECT_TRUE(gateway.adjust(kind, "a", more, {}, {}));
  EXPECT_TRUE(gateway.give_back(kind, "b", 1, taken)) << "nobody took any";
  const RedisKind running = kind_of(limit::Concurrency::create({.capacity = 1, .lease = kHour}).value());
  const std::array<Charge, 1> charges{{{}}};
  const limit::Call call{.now = 0, .wall = 0, .phase = 0, .lease = {.low = 1, .high = 1}};
  std::array<Outcome, 1> after;
  EXPECT_EQ(gateway.acquire(running, "c", charges, call, after), Asked::kAdmitted);
  const std::array<Adjustment, 1> end{{{.by = -1}}};
  EXPECT_TRUE(gateway.adjust(running, "c", end, call, {}));
  EXPECT_EQ(published(server), 0);
  EXPECT_TRUE(gateway.give_back(kind, "a", 1, taken));
  EXPECT_EQ(published(server), 1) << "what is owed is room that is missing";
}

TEST_F(TellingTest, WhatIsGivenBackToOtherNumbersIsToldAlways) {
  Gateway refused(seed(server));
  Gateway other(seed(server));
  refused.wait_until_told();
  const RedisKind old = kind_of(bucket(1, kHour, 2));
  const RedisKind fresh = kind_of(bucket(1, kHour, 100));
  const Outcome last = refused.exhaust(old, "a");
  EXPECT_TRUE(refused.remembers(old, "a"));
  EXPECT_TRUE(other.give_back(fresh, "a", 1, last));
  refused.wait_until_forgotten(old, "a");
}

TEST_F(TellingTest, AResetIsTold) {
  Gateway refused(seed(server));
  Gateway other(seed(server));
  refused.wait_until_told();
  const RedisKind kind = kind_of(bucket(1, kHour, 1));
  refused.exhaust(kind, "a");
  refused.exhaust(kind, "b");
  EXPECT_TRUE(other.reset(kind, "a"));
  refused.wait_until_forgotten(kind, "a");
  EXPECT_TRUE(refused.take(kind, "a").admitted);
  EXPECT_TRUE(refused.remembers(kind, "b", 30 * kSecond)) << "nobody has touched it";
}

TEST_F(TellingTest, AnInstallationWithAnotherPrefixIsNotDisturbed) {
  Gateway refused(seed(server));
  BlockingStore other(seed(server), RedisStore::Clock::kServer, kBudget, "other:room");
  refused.wait_until_told();
  const RedisKind kind = kind_of(bucket(1, kHour, 1));
  refused.exhaust(kind, "a");
  EXPECT_TRUE(other.reset(kind, "a"));
  Gateway third(seed(server));
  EXPECT_TRUE(third.reset(kind, "b")) << "who hears this has heard all before it";
  eventually("the news", [&] { return refused.counters().messages.value() == 1; });
  EXPECT_TRUE(refused.remembers(kind, "a", 30 * kSecond));
}

// The server ends the subscription of a user who may not hear the channel any more, and allows no other.
TEST_F(TellingTest, ALostSubscriptionForgetsEverythingAndASecondIsTheMostUntilItIsBack) {
  Gateway gateway(seed(server));
  gateway.wait_until_told();
  const RedisKind kind = kind_of(bucket(1, kHour, 3));
  const Outcome last = gateway.exhaust(kind, "a");
  EXPECT_TRUE(gateway.remembers(kind, "a", 30 * kSecond));
  server.command({"ACL", "SETUSER", "default", "resetchannels"});
  gateway.wait_until_forgotten(kind, "a");
  EXPECT_EQ(gateway.counters().live_subscriptions.value(), 0);
  EXPECT_FALSE(gateway.take(kind, "a").admitted);
  EXPECT_TRUE(gateway.remembers(kind, "a", kSecond - 1));
  EXPECT_FALSE(gateway.remembers(kind, "a", kSecond));
  EXPECT_TRUE(gateway.give_back(kind, "a", 1, last)) << "though this user may not publish";
  EXPECT_TRUE(gateway.take(kind, "a").admitted);
  EXPECT_TRUE(gateway.reset(kind, "a"));
  gateway.exhaust(kind, "a");
  EXPECT_TRUE(gateway.remembers(kind, "a"));
  server.command({"ACL", "SETUSER", "default", "allchannels"});
  gateway.wait_until_told();
  EXPECT_FALSE(gateway.remembers(kind, "a")) << "something may have been missed";
  EXPECT_FALSE(gateway.take(kind, "a").admitted);
  EXPECT_TRUE(gateway.remembers(kind, "a", 30 * kSecond));
}

io::Detached ask(RedisStore& store, RedisStore::Account account, std::span<const Charge> charges,
                 std::span<Outcome> after, std::promise<Asked>& done) {
  const Asked asked = co_await store.acquire(account, charges, {}, after, store.deadline());
  done.set_value(asked);
}

TEST_F(TellingTest, WhatWasAskedBeforeTheNewsIsNotRemembered) {
  Gateway gateway(seed(server));
  gateway.wait_until_told();
  const RedisKind kind = kind_of(bucket(1, kHour, 1));
  gateway.take(kind, "a");
  const std::array<Charge, 1> charges{{{}}};
  std::array<Outcome, 1> after;
  for (const bool told : {true, false}) {
    std::promise<Asked> done;
    gateway.run([&](RedisStore& store) {
      ask(store, {kind, "a"}, charges, after, done);
      if (told) store.told("a");
    });
    EXPECT_EQ(done.get_future().get(), Asked::kRefused);
    EXPECT_EQ(gateway.recall(kind, "a", charges, {}, after), !told);
  }
}

TEST(TellingInAClusterTest, EveryNodeIsHeardOf) {
  RedisCluster cluster(3);
  const std::vector<redis::Address> seeds{{.host = "127.0.0.1", .port = cluster.nodes()[0].port(), .unix_path = {}}};
  Gateway refused(seeds);
  Gateway other(seeds);
  refused.wait_until_told();
  const RedisKind kind = kind_of(bucket(1, kHour, 2));
  for (int i = 0; i < 12; ++i) {
    const std::string name = "weir:{" + std::to_string(i) + "}";
    const Outcome last = other.exhaust(kind, name);
    EXPECT_FALSE(refused.take(kind, name).admitted);
    EXPECT_TRUE(refused.remembers(kind, name, 30 * kSecond));
    EXPECT_TRUE(other.give_back(kind, name, 1, last));
    refused.wait_until_forgotten(kind, name);
    EXPECT_TRUE(refused.take(kind, name).admitted);
  }
  for (RedisServer& node : cluster.nodes()) EXPECT_GT(published(node), 0);
}

// Random states, of which the limit itself says how much room there was.
class TellingProperty : public ::testing::TestWithParam<limit::Kind> {};

TEST_P(TellingProperty, IsDoneIfAndOnlyIfSomebodyCanHaveBeenRefused) {
  constexpr Ticks kMicros = 1'000'000;
  constexpr Ticks kLater = Ticks{5} * 365 * 86'400 * kMicros;
  static RedisServer server;
  Gateway gateway(seed(server), RedisStore::Clock::kCall);
  const std::int64_t traces = limit::from_environment("WEIR_PROPERTY_STEPS", 100'000) / 50 / limit::kStepsPerTrace;
  const auto first = static_cast<std::uint64_t>(limit::from_environment("WEIR_PROPERTY_SEED", 1)) * 1'000'003;
  const bool is_remembered = GetParam() != limit::Kind::kConcurrency;
  int told = 0;
  for (std::int64_t i = 0; i <= traces && !HasFailure(); ++i) {
    const std::uint64_t seed = first + static_cast<std::uint64_t>(i);
    SCOPED_TRACE("trace seed " + std::to_string(seed));
    limit::Random random(seed);
    const Limit limit = limit::random_limit(GetParam(), random, kMicros);
    limit::RandomTrace trace(limit, random, kMicros);
    const Cost largest = limit::between(random, 1, std::min<Cost>(limit.capacity() + 1, 20));
    const RedisKind kind = kind_of(limit, largest);
    const std::string name = std::string(limit::name_of(GetParam())) + std::to_string(i);
    Outcome last;
    Outcome taken;
    for (std::int64_t step = 0; step < limit::kStepsPerTrace && !HasFailure(); ++step) {
      trace.advance(last);
      limit::Call call = trace.call();
      call = {.now = 0, .wall = (call.wall + kLater) * 1000, .phase = call.phase, .lease = call.lease};
      const auto ask = [&](Cost cost) {
        const std::array<Charge, 1> charges{{{.cost = cost}}};
        std::array<Outcome, 1> after;
        EXPECT_NE(gateway.acquire(kind, name, charges, call, after), Asked::kFailed);
        return after[0];
      };
      last = ask(trace.cost(last));
      if (last.admitted) taken = last;
      const Cost before = ask(0).remaining;
      const int published_before = published(server);
      const std::array<Adjustment, 1> back{{{.by = -limit::between(random, 1, 3), .at = place_of(limit, taken)}}};
      EXPECT_TRUE(gateway.adjust(kind, name, back, call, {}));
      const int now = published(server) - published_before;
      const Cost after = ask(0).remaining;
      const Cost needed = is_remembered ? std::min(largest, limit.capacity()) : 0;
      if (after > before && before < needed) {
        EXPECT_EQ(now, 1) << before << ' ' << after;
      } else if (before > needed || !is_remembered) {
        EXPECT_EQ(now, 0) << before << ' ' << after;
      }
      told += now;
    }
  }
  EXPECT_EQ(told > 0, is_remembered);
}

INSTANTIATE_TEST_SUITE_P(Kinds, TellingProperty, limit::every_kind(), limit::name_of_param);

}  // namespace
}  // namespace weir::store
