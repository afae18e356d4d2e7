// SPDX-License-Identifier: Apache-2.0
//
// Several gateways that take tokens in advance, on one server, with a clock that the tests move: what they admit
// together, each limit admits when it sees every request. (algorithms: B = 100, four gateways, bundles of 5)
#include "weir/store/redis/bundles.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "weir/limit/testing/random_trace.h"
#include "weir/redis/testing/redis_server.h"
#include "weir/store/redis/testing/blocking_store.h"

namespace weir::store {
namespace {

using limit::Limit;
using limit::Outcome;
using redis::testing::RedisServer;
using testing::BlockingStore;
using testing::SteppedClock;

constexpr limit::Ticks kSecond = 1'000'000'000;
constexpr nanoseconds kMilli = std::chrono::milliseconds(1);

Limit bucket(std::int64_t count, limit::Ticks period, limit::Cost capacity) {
  return limit::TokenBucket::create({.count = count, .period = period, .capacity = capacity}).value();
}
Limit fixed(limit::Cost capacity, limit::Ticks window) {
  return limit::FixedWindow::create(
             {.capacity = capacity, .alignment = {.window = window}, .ticks_per_second = kSecond})
      .value();
}
Limit sliding(limit::Cost capacity, limit::Ticks window) {
  return limit::SlidingWindow::create(
             {.capacity = capacity, .alignment = {.window = window}, .ticks_per_second = kSecond})
      .value();
}

int kinds = 0;  // so far: each has a name of its own

std::shared_ptr<const RedisKind> kind_of(const std::vector<Limit>& limits, const Leasing& leasing) {
  Layout layout{.kind = "kind " + std::to_string(++kinds), .slots = {}};
  for (const Limit& limit : limits) {
    layout.slots.push_back({.identity = std::to_string(layout.slots.size()), .variants = {limit}, .largest_cost = 3});
  }
  return std::make_shared<const RedisKind>(layout, leasing);
}

class BundlesTest : public ::testing::Test {
 protected:
  void open(std::size_t gateways) {
    while (stores.size() < gateways) stores.push_back(make());
  }
  std::unique_ptr<BlockingStore> make() {
    const std::vector<redis::Address> seeds{{.host = {}, .port = 0, .unix_path = server.unix_path()}};
    return std::make_unique<BlockingStore>(seeds, RedisStore::Clock::kCall, std::chrono::seconds(10), "", &clock,
                                           workers);
  }
  limit::Call call() const {
    return {.now = clock.now().time_since_epoch().count(), .wall = clock.wall().time_since_epoch().count()};
  }
  // Of so many requests in one turn, those that are admitted.
  std::uint32_t offer(BlockingStore& store, const RedisKind& kind, std::uint32_t requests, limit::Cost cost = 1) {
    std::vector<Charge> charges;
    for (std::size_t i = 0; i < kind.slots().size(); ++i) {
      charges.push_back({.slot = static_cast<std::uint16_t>(i), .variant = 0, .cost = cost});
    }
    std::uint32_t admitted = 0;
    for (const auto& one : store.acquire_together(requests, kind, name, charges, call())) {
      EXPECT_NE(one.asked, Asked::kFailed);
      admitted += one.asked == Asked::kAdmitted ? 1 : 0;
      last = one.outcomes;
    }
    return admitted;
  }
  void advance(nanoseconds by) {
    clock.advance(by);
    for (const auto& store : stores) store->turn();
  }
  // What is held by all gateways comes back by itself.
  void settle() {
    advance(400 * kMilli);
    until_nothing_is_held();
  }
  void until_nothing_is_held() {
    for (int turn = 0; turn < 100'000 && held() > 0; ++turn) advance({});  // the server takes its time
    ASSERT_EQ(held(), 0);
  }
  std::uint64_t held() const {
    std::uint64_t sum = 0;
    for (const auto& store : stores) sum += store->ahead().held();
    return sum;
  }
  std::uint64_t spent() const {
    std::uint64_t sum = 0;
    for (const auto& store : stores) sum += store->ahead().spent.value();
    return sum;
  }

  RedisServer server{RedisServer::Options{.extra = {}, .unix_only = true}};
  SteppedClock clock;
  std::vector<std::unique_ptr<BlockingStore>> stores;
  std::uint32_t workers = 1;
  std::string name = "weir:{a}";
  std::vector<Outcome> last;
};

TEST_F(BundlesTest, ABusyAccountIsAskedAboutRarely) {
  open(1);
  const auto kind = kind_of({bucket(10'000, kSecond, 100'000), fixed(100'000, 60 * kSecond)}, {.max = 1000});
  std::uint32_t admitted = 0;
  for (int i = 0; i < 5000; ++i) {
    admitted += offer(*stores[0], *kind, 1);
    advance(kMilli / 5);
  }
  EXPECT_EQ(admitted, 5000);
  EXPECT_LT(stores[0]->counters().commands.value(), 100);
  EXPECT_EQ(last[1].remaining, 95'000) << "nobody else has taken anything";
}

TEST_F(BundlesTest, AnAccountThatIsNotBusyIsNotTakenInAdvance) {
  open(1);
  const auto kind = kind_of({bucket(100, kSecond, 1000)}, {.max = 100});
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(offer(*stores[0], *kind, 1), 1);
    advance(40 * kMilli);
  }
  EXPECT_EQ(stores[0]->ahead().taken.value(), 0);
}

TEST_F(BundlesTest, WhatIsNotSpentGoesBackWhenTheAccountIsIdle) {
  open(1);
  const auto kind = kind_of({fixed(1000, 3600 * kSecond)}, {.max = 100});
  EXPECT_EQ(offer(*stores[0], *kind, 50), 50);
  EXPECT_EQ(held(), 50);
  settle();
  EXPECT_EQ(stores[0]->ahead().returned.value(), 50);
  EXPECT_EQ(offer(*stores[0], *kind, 1), 1);
  EXPECT_EQ(last[0].remaining, 949);
}

TEST_F(BundlesTest, WhatIsNotSpentGoesBackWhenOtherLimitsAreInForceAndWhenTheGatewayEnds) {
  open(1);
  const auto kind = kind_of({fixed(1000, 3600 * kSecond)}, {.max = 100});
  offer(*stores[0], *kind, 50);
  stores[0]->begin_anew();
  until_nothing_is_held();
  advance(200 * kMilli);
  offer(*stores[0], *kind, 50);
  EXPECT_EQ(held(), 50);
  stores[0]->close();
  until_nothing_is_held();
  EXPECT_EQ(stores[0]->ahead().returned.value(), 100);
  EXPECT_EQ(offer(*stores[0], *kind, 50), 50);
  EXPECT_EQ(held(), 0) << "nothing is taken in advance any more";
  EXPECT_EQ(last[0].remaining, 850);
}

TEST_F(BundlesTest, NoGatewayHoldsMoreThanItMayOrThanASmallPartOfWhatIsLeft) {
  open(2);
  const auto kind = kind_of({fixed(10'000, 3600 * kSecond)}, {.max = 30, .gateways = 2});
  offer(*stores[0], *kind, 200);
  EXPECT_EQ(held(), 30);
  const auto small = kind_of({fixed(100, 3600 * kSecond)}, {.max = 25, .gateways = 2});
  name = "weir:{small}";
  offer(*stores[1], *small, 60);
  EXPECT_EQ(stores[1]->ahead().taken.value(), (100 - 60) / 4);
}

TEST_F(BundlesTest, QuestionsOfOneSlotShareWhatMayBeHeldOfIt) {
  open(1);
  const auto kind = kind_of({fixed(10'000, 3600 * kSecond)}, {.max = 30});
  offer(*stores[0], *kind, 20, 1);
  EXPECT_EQ(held(), 20);
  offer(*stores[0], *kind, 20, 3);
  EXPECT_EQ(held(), 23) << "ten tokens were left, which is three requests of three";
}

TEST_F(BundlesTest, CallersWhoChooseTheirCostsMakeNoLongList) {
  open(1);
  const auto kind = kind_of({fixed(1'000'000, 3600 * kSecond)}, {.max = 100'000});
  for (limit::Cost cost = 1; cost <= 100; ++cost) offer(*stores[0], *kind, 10, cost);
  EXPECT_EQ(stores[0]->ahead().taken.value(), 16 * 10);
  settle();
  offer(*stores[0], *kind, 10, 200);
  EXPECT_EQ(stores[0]->ahead().taken.value(), 17 * 10) << "there is room again";
}

TEST_F(BundlesTest, TwoConfigurationsShareWhatMayBeHeldOfASlot) {
  open(1);
  const auto old = kind_of({bucket(100, kSecond, 100)}, {.max = 25});
  const auto fresh =
      std::make_shared<const RedisKind>(Layout{.kind = "kind " + std::to_string(kinds),
                                               .slots = {{.identity = "0", .variants = {bucket(100, kSecond, 100)}}}},
                                        Leasing{.max = 25});
  ASSERT_EQ(old->slot(0).id, fresh->slot(0).id);
  offer(*stores[0], *old, 10);
  EXPECT_EQ(held(), 10);
  offer(*stores[0], *fresh, 30);
  EXPECT_LE(held(), 25);
}

TEST_F(BundlesTest, WhatWasTakenByOtherNumbersGoesBackNevertheless) {
  open(2);
  const auto old =
      kind_of({fixed(1000, 3600 * kSecond), bucket(1, 3600 * kSecond, 1000)}, {.max = 50, .gateways = 2});
  offer(*stores[0], *old, 20);
  EXPECT_EQ(held(), 20);
  const Layout layout{.kind = "kind " + std::to_string(kinds),
                      .slots = {{.identity = "0", .variants = {fixed(2000, 3600 * kSecond)}},
                                {.identity = "1", .variants = {bucket(1, 3600 * kSecond, 2000)}}}};
  const auto fresh = std::make_shared<const RedisKind>(layout, Leasing{.max = 50, .gateways = 2});
  EXPECT_EQ(offer(*stores[1], *fresh, 1), 1);  // the other gateway has been reloaded, and writes its own numbers
  EXPECT_EQ(last[0].remaining, 2000 - 41);
  stores[0]->begin_anew();
  until_nothing_is_held();
  EXPECT_EQ(stores[0]->ahead().returned.value(), 20);
  EXPECT_EQ(offer(*stores[1], *fresh, 1), 1);
  EXPECT_EQ(last[0].remaining, 2000 - 22);
}

TEST_F(BundlesTest, WhatIsHeldOfAnAccountThatIsResetIsDropped) {
  open(2);
  const auto kind = kind_of({fixed(1000, 3600 * kSecond)}, {.max = 100, .gateways = 2});
  offer(*stores[0], *kind, 50);
  EXPECT_EQ(held(), 50);
  stores[1]->reset(*kind, name);
  stores[0]->run([&](RedisStore& store) { store.told("reset " + name); });
  EXPECT_EQ(held(), 0);
  settle();
  std::uint32_t admitted = 0;
  for (int round = 0; round < 400; ++round)
    admitted += offer(*stores[static_cast<std::size_t>(round) % 2], *kind, 10);
  settle();
  admitted += offer(*stores[0], *kind, 1000);
  EXPECT_EQ(admitted, 1000);
}

TEST_F(BundlesTest, WorkersShareWhatTheirGatewayMayHold) {
  workers = 4;
  open(4);
  const auto kind = kind_of({fixed(100'000, 3600 * kSecond)}, {.max = 40});
  for (const auto& store : stores) offer(*store, *kind, 100);
  EXPECT_EQ(held(), 40);
}

TEST_F(BundlesTest, AfterAQuestionWithoutAnAnswerNothingIsTakenInAdvance) {
  open(1);
  const auto kind = kind_of({fixed(100'000, 3600 * kSecond)}, {.max = 1000});
  offer(*stores[0], *kind, 50);
  EXPECT_EQ(stores[0]->ahead().taken.value(), 50);
  advance(250 * kMilli);
  settle();
  server.command({"SET", name, "nonsense"});
  const std::vector<Charge> charges{{}};
  stores[0]->acquire_together(50, *kind, name, charges, call());
  server.command({"DEL", name});
  offer(*stores[0], *kind, 1);
  EXPECT_EQ(stores[0]->ahead().taken.value(), 50);
}

TEST_F(BundlesTest, AWindowsBundleEndsWithIt) {
  open(1);
  const auto kind = kind_of({fixed(100, kSecond)}, {.max = 50});
  advance(nanoseconds(kSecond - call().wall % kSecond) - 50 * kMilli);
  EXPECT_EQ(offer(*stores[0], *kind, 40), 40);
  EXPECT_GT(held(), 0);
  clock.advance(50 * kMilli);
  EXPECT_EQ(offer(*stores[0], *kind, 100), 100) << "all of the next window";
  EXPECT_EQ(stores[0]->ahead().spent.value(), 0);
}

// Without the reserve of B it would be B and what all gateways hold.
TEST_F(BundlesTest, ABurstStaysWithinTheBucketWhenEverybodyHoldsABundle) {
  open(4);
  const auto kind = kind_of({bucket(1000, kSecond, 100)}, {.max = 5, .gateways = 4});
  for (const auto& store : stores) EXPECT_EQ(offer(*store, *kind, 6), 6);
  EXPECT_EQ(held(), 20);
  clock.advance(250 * kMilli);  // the bucket is full again, what is held is not given back yet
  std::uint32_t admitted = 0;
  for (int round = 0; round < 20; ++round) {
    for (const auto& store : stores) admitted += offer(*store, *kind, 3);
  }
  EXPECT_EQ(admitted, 100);
}

TEST_F(BundlesTest, WhatIsLeftWithoutCrashesIsUsedToTheLast) {
  open(3);
  const auto kind = kind_of({fixed(1000, 3600 * kSecond)}, {.max = 50, .gateways = 3});
  std::uint32_t admitted = 0;
  for (int round = 0; round < 2000; ++round) {
    admitted += offer(*stores[static_cast<std::size_t>(round) % 3], *kind, 2);
    advance(2 * kMilli);
  }
  settle();
  admitted += offer(*stores[0], *kind, 1000);
  EXPECT_EQ(admitted, 1000);
  EXPECT_GT(spent(), 300);
}

TEST_F(BundlesTest, WithAGatewayThatIsGoneGoesWhatItHeldAndNoMore) {
  open(3);
  const auto kind = kind_of({fixed(1000, 3600 * kSecond)}, {.max = 50, .gateways = 3});
  std::uint32_t admitted = 0;
  for (int round = 0; round < 2000; ++round) {
    const std::size_t at = static_cast<std::size_t>(round) % 3;
    admitted += offer(*stores[at], *kind, 2);
    advance(2 * kMilli);
    if (round % 100 == 50) stores[at] = make();
  }
  EXPECT_LE(admitted, 1000);
  EXPECT_GE(admitted, 1000 - 20 * 50);
}

// The commands of a Command, for a connection that sends them as they are.
std::vector<std::string> arguments_of(const redis::Command& command) {
  std::vector<std::string> arguments;
  std::string_view rest = command.bytes();
  rest.remove_prefix(rest.find('\n') + 1);
  while (!rest.empty()) {
    const std::size_t size = std::stoul(std::string(rest.substr(1)));
    rest.remove_prefix(rest.find('\n') + 1);
    arguments.emplace_back(rest.substr(0, size));
    rest.remove_prefix(size + 2);
  }
  return arguments;
}

TEST_F(BundlesTest, ARestGoesBackOnceWhateverRepeatsIt) {
  open(1);
  const auto kind = kind_of({fixed(1000, 3600 * kSecond)}, {.max = 100});
  offer(*stores[0], *kind, 50);
  const Micros now = call().wall / 1000;
  const std::array<Adjustment, 1> rest{{{.slot = 0, .variant = 0, .by = -10, .at = call().wall}}};
  const auto give_back = [&](const std::string& mark, Micros until) {
    Amendment amendment(*kind, name, rest, {.now = 0, .wall = now});
    amendment.make_once(mark, until);
    server.command(arguments_of(amendment.command({"EVAL", RedisStore::scripts()[1]->text()}, now, "")));
  };
  const auto used = [&] {
    std::array<Outcome, 1> outcomes;
    const std::array<Charge, 1> look{{{.cost = 0}}};
    stores[0]->acquire(*kind, name, look, call(), outcomes);
    return 1000 - outcomes[0].remaining;
  };
  EXPECT_EQ(used(), 100);
  for (int i = 0; i < 3; ++i) give_back("one", now + 1000);
  EXPECT_EQ(used(), 90);
  give_back("two", now + 1000);
  EXPECT_EQ(used(), 80);
  give_back("three", now - 1);
  EXPECT_EQ(used(), 80) << "too late";
  EXPECT_GT(std::stoll(server.command({"TTL", name + ":one"})), 5);
}

// One limit in memory that sees every request.
class Witness {
 public:
  explicit Witness(const Limit& limit) : limit_(in_microseconds(limit)) {}
  bool admits(Micros now, limit::Cost cost) {
    Outcome outcome;
    limit_.step(state_, {.now = now, .wall = now}, cost, outcome);
    return outcome.admitted;
  }

 private:
  Limit limit_;
  StateWords state_{};
};

class BundlesPropertyTest : public BundlesTest, public ::testing::WithParamInterface<int> {
 protected:
  Limit random_limit() {
    const limit::Cost capacity = limit::between(random, 20, 400);
    switch (limit::between(random, 0, 3)) {
      case 0:
        return fixed(capacity, limit::between(random, 1, 5) * kSecond);
      case 1:
        return sliding(capacity, limit::between(random, 1, 5) * kSecond);
      case 2:  // by fractions of a microsecond
        return bucket(limit::between(random, 1, 7) * 333, 7 * kSecond, capacity);
      default:
        return bucket(limit::between(random, 20, 500), kSecond, capacity);
    }
  }

  limit::Random random{static_cast<std::uint64_t>(GetParam()) * 977 + 5};
};

TEST_P(BundlesPropertyTest, TogetherTheyAdmitWhatOneLimitAdmitsThatSeesAll) {
  const auto gateways = static_cast<std::size_t>(limit::between(random, 2, 4));
  open(gateways);
  std::vector<Limit> limits{random_limit()};
  if (limit::one_in(random, 2)) limits.push_back(random_limit());
  const Leasing leasing{.max = limit::between(random, 1, 60), .gateways = static_cast<limit::Cost>(gateways)};
  auto kind = kind_of(limits, leasing);
  std::vector<Witness> witnesses(limits.begin(), limits.end());
  std::uint32_t total = 0;
  for (int step = 0; step < 3000 && !HasFailure(); ++step) {
    const auto at = static_cast<std::size_t>(limit::between(random, 0, static_cast<std::int64_t>(gateways) - 1));
    const limit::Cost cost = limit::one_in(random, 4) ? limit::between(random, 1, 3) : 1;
    const std::uint32_t admitted =
        offer(*stores[at], *kind, static_cast<std::uint32_t>(limit::between(random, 1, 6)), cost);
    total += admitted;
    for (Witness& witness : witnesses) {
      for (std::uint32_t i = 0; i < admitted; ++i) {
        EXPECT_TRUE(witness.admits(call().wall / 1000, cost)) << "step " << step;
      }
    }
    const int what = static_cast<int>(limit::between(random, 0, 99));
    if (what < 60) advance(limit::between(random, 0, 10'000) * std::chrono::microseconds(1));
    if (what == 60) advance(limit::between(random, 100, 3000) * kMilli);
    if (what == 61) stores[at] = make();  // it has crashed
    if (what == 62) stores[at]->begin_anew();
    if (what == 63) {  // others go on by the old one for a moment
      --kinds;
      kind = kind_of(limits, leasing);
      stores[at]->begin_anew();
    }
  }
  EXPECT_GT(total, 0);
  EXPECT_GT(spent(), 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, BundlesPropertyTest, ::testing::Range(0, 12));

}  // namespace
}  // namespace weir::store
