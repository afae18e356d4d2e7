// SPDX-License-Identifier: Apache-2.0
//
// What is particular about counting in Redis: accounts as they stand there, questions that travel together, and
// servers that forget or fail.
#include "weir/store/redis/redis_store.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "weir/redis/testing/redis_server.h"
#include "weir/store/redis/testing/blocking_store.h"

namespace weir::store {
namespace {

using limit::Outcome;
using redis::testing::RedisServer;
using testing::BlockingStore;

constexpr limit::Ticks kSecond = 1'000'000'000;

limit::Limit bucket(std::int64_t count, limit::Ticks period, limit::Cost capacity) {
  return limit::TokenBucket::create({.count = count, .period = period, .capacity = capacity}).value();
}

RedisKind kind_of(std::initializer_list<limit::Limit> limits) {
  Layout layout{.kind = "kind", .slots = {}};
  for (const limit::Limit& limit : limits) layout.slots.push_back({std::to_string(layout.slots.size()), {limit}});
  return RedisKind(layout);
}

class RedisStoreTest : public ::testing::Test {
 protected:
  Asked take(const RedisKind& kind, std::string_view name, const std::vector<Charge>& charges = {{}}) {
    outcomes.assign(charges.size(), {});
    return store.acquire(kind, name, charges, {}, outcomes);
  }
  std::string server_says(std::vector<std::string> command) { return server.command(std::move(command)); }

  RedisServer server;
  BlockingStore store{{{.host = {}, .port = 0, .unix_path = server.unix_path()}}, RedisStore::Clock::kServer};
  std::vector<Outcome> outcomes;
};

TEST_F(RedisStoreTest, TheServersClockDecidesAndTheGatewaysDoesNot) {
  const RedisKind kind = kind_of({bucket(1, 3600 * kSecond, 2)});
  const std::array<Charge, 1> charges{{{}}};
  std::array<Outcome, 1> after;
  for (const limit::Ticks hours : {0, 1, -1, 1000}) {
    const limit::Call call{.now = 0, .wall = (500'000 + hours) * 3600 * kSecond};
    const Asked asked = store.acquire(kind, "a", charges, call, after);
    EXPECT_EQ(asked, hours <= 1 && hours >= 0 ? Asked::kAdmitted : Asked::kRefused) << hours;
  }
}

// 3600 s ahead, an hour's worth would come in if the clock were believed.
TEST_F(RedisStoreTest, AGatewaysClockIsHeldWithinASecondOfTheServers) {
  BlockingStore gateway({{.host = {}, .port = 0, .unix_path = server.unix_path()}}, RedisStore::Clock::kGateway);
  const RedisKind kind = kind_of({bucket(1, 10 * kSecond, 9)});
  const std::array<Charge, 1> all{{{.cost = 9}}};
  const std::array<Charge, 1> one{{{.cost = 1}}};
  std::array<Outcome, 1> after;
  const limit::Ticks now = store.wall().time_since_epoch().count();
  const auto at = [&](limit::Ticks seconds) { return limit::Call{.now = 0, .wall = now + seconds * kSecond}; };
  EXPECT_EQ(gateway.acquire(kind, "a", all, at(0), after), Asked::kAdmitted) << "by the server's clock";
  EXPECT_EQ(gateway.acquire(kind, "b", one, at(3600), after), Asked::kAdmitted) << "the two are compared here";
  BlockingStore ahead({{.host = {}, .port = 0, .unix_path = server.unix_path()}}, RedisStore::Clock::kGateway);
  ahead.acquire(kind, "b", one, at(3600), after);
  EXPECT_EQ(ahead.acquire(kind, "a", one, at(3600), after), Asked::kRefused);
  EXPECT_GT(after[0].retry_after.value(), 7 * kSecond);
}

TEST_F(RedisStoreTest, EqualQuestionsOfATurnAreOneCallAndTheSameAsOneAfterTheOther) {
  const RedisKind kind = kind_of({bucket(1, 3600 * kSecond, 4), bucket(1, 3600 * kSecond, 9)});
  const std::vector<Charge> charges{{.slot = 0}, {.slot = 1, .cost = 2}};
  take(kind, "another");
  const std::uint64_t before = store.counters().commands.value();
  const auto answers = store.acquire_together(10, kind, "a", charges, {});
  EXPECT_EQ(store.counters().commands.value() - before, 1);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(answers[i].asked, i < 4 ? Asked::kAdmitted : Asked::kRefused) << i;
    EXPECT_EQ(answers[i].outcomes[0].remaining, i < 4 ? 3 - static_cast<limit::Cost>(i) : 0) << i;
    EXPECT_EQ(answers[i].outcomes[1].remaining, i < 4 ? 7 - 2 * static_cast<limit::Cost>(i) : 1) << i;
    EXPECT_EQ(answers[i].outcomes[1].admitted, i < 4) << i;
  }
  EXPECT_EQ(take(kind, "a", {{.slot = 1, .cost = 0}}), Asked::kAdmitted);
  EXPECT_EQ(outcomes[0].remaining, 1) << "what was refused took nothing";
}

TEST_F(RedisStoreTest, DifferentQuestionsOfATurnLeaveInOneWrite) {
  const RedisKind kind = kind_of({limit::Concurrency::create({.capacity = 5, .lease = kSecond}).value()});
  const std::vector<Charge> charges{{}};
  const limit::Call call{.now = 0, .wall = 0, .phase = 0, .lease = {.low = 1, .high = 1}};
  store.acquire_together(1, kind, "a", charges, call);
  const std::uint64_t commands = store.counters().commands.value();
  const std::uint64_t writes = store.counters().writes.value();
  store.acquire_together(5, kind, "a", charges, call);
  EXPECT_EQ(store.counters().commands.value() - commands, 5) << "each has a lease";
  EXPECT_EQ(store.counters().writes.value() - writes, 1);
}

TEST_F(RedisStoreTest, NoAccountIsWithoutExpiryAndNoneExpiresBeforeItIsFull) {
  const RedisKind slow = kind_of({bucket(1, 3600 * kSecond, 2)});
  const RedisKind fast = kind_of({bucket(1000, kSecond, 1)});
  take(slow, "slow");
  take(fast, "fast");
  EXPECT_GE(std::stoll(server_says({"PTTL", "slow"})), 2 * 2 * 3600 * 1000 - 1000);
  EXPECT_GE(std::stoll(server_says({"PTTL", "fast"})), 9000);
  take(fast, "slow");
  EXPECT_GE(std::stoll(server_says({"PTTL", "slow"})), 2 * 2 * 3600 * 1000 - 1000) << "the longest of its limits";
  const RedisKind lists = kind_of({limit::SlidingLog::create({.capacity = 5, .window = 60 * kSecond}).value(),
                                   limit::Concurrency::create({.capacity = 5, .lease = 30 * kSecond}).value()});
  const std::vector<Charge> both{{.slot = 0}, {.slot = 1}};
  std::array<Outcome, 2> after;
  store.acquire(lists, "{lists}", both, {.lease = {.low = 1, .high = 1}}, after);
  for (const auto& slot : lists.slots()) {
    EXPECT_GE(std::stoll(server_says({"PTTL", "{lists}" + slot.variants[0].list})), 59'000);
  }
}

TEST_F(RedisStoreTest, APeekAndARefusalWriteNothing) {
  const RedisKind kind = kind_of({bucket(1, 3600 * kSecond, 1)});
  take(kind, "a", {{.cost = 0}});
  EXPECT_EQ(server_says({"EXISTS", "a"}), "0");
  EXPECT_EQ(take(kind, "a", {{.cost = 2}}), Asked::kRefused);
  EXPECT_EQ(server_says({"EXISTS", "a"}), "0");
  take(kind, "a");
  server_says({"PEXPIRE", "a", "5000"});
  const std::string before = server_says({"GET", "a"});
  EXPECT_EQ(take(kind, "a"), Asked::kRefused);
  EXPECT_EQ(server_says({"GET", "a"}), before);
  EXPECT_LE(std::stoll(server_says({"PTTL", "a"})), 5000);
}

TEST_F(RedisStoreTest, AServerThatForgotItsScriptsIsToldThemAgain) {
  const RedisKind kind = kind_of({bucket(1, 3600 * kSecond, 9)});
  EXPECT_EQ(take(kind, "a"), Asked::kAdmitted);
  server_says({"SCRIPT", "FLUSH"});
  EXPECT_EQ(take(kind, "a"), Asked::kAdmitted);
  EXPECT_EQ(outcomes[0].remaining, 7) << "counted once";
  EXPECT_EQ(store.counters().scripts_loaded.value(), 1);
}

TEST_F(RedisStoreTest, TwoLimitsOfACommonKindFitWhereTheServerKeepsThemCheaply) {
  const RedisKind kind = kind_of({bucket(20, kSecond, 20), bucket(600, 60 * kSecond, 600)});
  take(kind, "weir:{partner-012345,ORDERS}", {{.slot = 0}, {.slot = 1}});
  EXPECT_EQ(server_says({"OBJECT", "ENCODING", "weir:{partner-012345,ORDERS}"}), "embstr");
}

// A third of an hour is a whole number of microseconds, a seventh is none.
TEST_F(RedisStoreTest, APlaceInALineOfAnyRateIsGivenBackByTheLast) {
  const RedisKind kind =
      kind_of({limit::LeakyBucket::create({.count = 7, .period = kSecond * 3600, .queue = 9}).value()});
  const std::array<Charge, 1> charges{{{}}};
  std::array<Outcome, 1> after;
  for (int i = 0; i < 3; ++i) {
    take(kind, "a");
    store.acquire(kind, "a", charges, {}, after);
    const limit::Cost remaining = after[0].remaining;
    const std::array<Adjustment, 1> back{{{.by = -1, .at = after[0].at + after[0].reset_after}}};
    store.adjust(kind, "a", back, {}, after);
    EXPECT_EQ(after[0].remaining, remaining + 1) << i;
    store.adjust(kind, "a", back, {}, after);
    EXPECT_EQ(after[0].remaining, remaining + 1) << "only once";
  }
}

TEST_F(RedisStoreTest, WhatIsNotAnAccountIsAFailureAndStaysAsItIs) {
  const RedisKind kind = kind_of({bucket(1, 3600 * kSecond, 9)});
  server_says({"LPUSH", "list", "x"});
  EXPECT_EQ(take(kind, "list"), Asked::kFailed);
  EXPECT_EQ(server_says({"LLEN", "list"}), "1");
}

TEST(RefusalsTest, HoldForTheSameQuestionOfTheSameKindUntilTheWaitIsOver) {
  Refusals refusals;
  const std::vector<Charge> one{{}};
  const std::vector<Charge> two{{.cost = 2}};
  Outcome outcome;
  outcome.retry_after = 100;
  outcome.reset_after = 500;
  const std::vector<Outcome> refused{outcome};
  std::vector<Outcome> recalled(1);
  refusals.remember("a", 1, one, 1000, 10'000, refused);
  EXPECT_TRUE(refusals.recall("a", 1, one, 1060, recalled));
  EXPECT_EQ(recalled[0].retry_after, 40);
  EXPECT_EQ(recalled[0].reset_after, 440);
  EXPECT_FALSE(refusals.recall("a", 2, one, 1060, recalled)) << "another kind has the same name";
  EXPECT_FALSE(refusals.recall("a", 1, two, 1060, recalled)) << "another cost";
  EXPECT_FALSE(refusals.recall("b", 1, one, 1060, recalled));
  EXPECT_FALSE(refusals.recall("a", 1, one, 1100, recalled)) << "the wait is over";
  refusals.remember("a", 1, one, 1000, 10, refused);
  EXPECT_FALSE(refusals.recall("a", 1, one, 1010, recalled)) << "believed no longer than that";
  refusals.remember("a", 1, one, 2000, 10'000, refused);
  refusals.forget("a");
  EXPECT_FALSE(refusals.recall("a", 1, one, 2001, recalled));
}

TEST(RefusalsTest, AreBounded) {
  Refusals refusals(100);
  const std::vector<Charge> charges{{}};
  Outcome outcome;
  outcome.retry_after = 1'000'000;
  const std::vector<Outcome> refused{outcome};
  for (int i = 0; i < 1000; ++i) refusals.remember(std::to_string(i), 1, charges, i, 1'000'000, refused);
  EXPECT_EQ(refusals.size(), 100);
}

TEST(AccountNames, NoValueChoosesAnotherAccountOrItsHashSlot) {
  const auto name = [](std::initializer_list<std::string_view> values) {
    std::string text;
    AccountName writer("weir", text);
    for (const std::string_view value : values) writer.add(value);
    writer.finish();
    return text;
  };
  EXPECT_EQ(name({"mobidoo", "SAUCE_SERVICE"}), "weir:{mobidoo,SAUCE_SERVICE}");
  EXPECT_EQ(name({"a,b", "c"}), "weir:{a\\,b,c}");
  EXPECT_EQ(name({"}x{"}), "weir:{\\)x\\(}");
  EXPECT_EQ(name({""}), "weir:{\\-}");
  EXPECT_NE(name({"a", "b,c"}), name({"a,b", "c"}));
  EXPECT_NE(name({"\\", "x"}), name({"\\,x"}));
  EXPECT_NE(name({"-"}), name({""}));
  EXPECT_EQ(name({}), "weir:{\\.}") << "no empty hash tag";
  EXPECT_NE(name({}), name({"."}));
  const std::string longest(512, 'x');
  EXPECT_EQ(name({longest}).size(), 512 + 7);
  EXPECT_LT(name({longest + 'x'}).size(), 64);
  EXPECT_NE(name({longest + 'x'}), name({longest + 'y'}));
  for (const auto& text : {name({"}"}), name({"{"}), name({"a}", "b"}), name({"{}{}"})}) {
    EXPECT_EQ(text.find('{'), 5);
    EXPECT_EQ(text.find('}'), text.size() - 1);
  }
}

TEST(SlotHeads, ARateIsTheSameInMicrosecondsAndForWhoeverReadsIt) {
  for (const std::int64_t count :
       {1L, 1'000L, 1'001L, 1'024L, 5'000L, 999'999L, 1'000'000L, 3'000'000L, 1'000'000'000'000L}) {
    for (const limit::Ticks period : {kSecond / 1000, kSecond, 60 * kSecond}) {
      const limit::Limit line =
          limit::LeakyBucket::create({.count = count, .period = period, .queue = 9, .undelayed = 2}).value();
      for (const limit::Limit& limit : {bucket(count, period, 10), line}) {
        const limit::Limit micros = in_microseconds(limit);
        const auto before = bucket_numbers(limit);
        const auto after = bucket_numbers(micros);
        EXPECT_EQ(after.ticks_per_second, kMicrosPerSecond) << count << '/' << period;
        EXPECT_EQ(static_cast<__int128>(after.count) * before.period,
                  static_cast<__int128>(before.count) * after.period * 1000)
            << count << '/' << period;
        std::string head;
        append_head(7, micros, 0, head);
        const auto read = read_head(head);
        ASSERT_TRUE(read) << count << '/' << period;
        EXPECT_EQ(bucket_numbers(*read), after);
      }
    }
  }
}

TEST(LifeCodes, AreNeverShorterThanWhatTheyStandForAndKeepTheirOrder) {
  std::int64_t before = 0;
  LifeCode last = 0;
  for (std::int64_t seconds = 10; seconds < 700'000'000; seconds = seconds * 21 / 20 + 1) {
    const LifeCode code = life_code(seconds);
    EXPECT_GE(seconds_of(code), seconds);
    EXPECT_LE(seconds_of(code), seconds + seconds / 500 + 1);
    EXPECT_GE(code, last);
    EXPECT_GE(seconds_of(code), before);
    last = code;
    before = seconds_of(code);
  }
}

}  // namespace
}  // namespace weir::store
