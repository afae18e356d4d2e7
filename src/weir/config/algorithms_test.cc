// SPDX-License-Identifier: Apache-2.0
//
// The keys of limits that go with their algorithm.
#include <gtest/gtest.h>

#include "weir/config/load_for_test.h"
#include "weir/config/time_zone.h"

namespace weir::config {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;
using Rule = CountedAnswers::Rule;

constexpr const char* kBase = R"(
listeners: [{address: 127.0.0.1:8080}]
upstreams: {u: {url: "http://a:1"}}
services: {S: {upstream: u}}
callers: [{api_key: {header: X-Api-Key}}]
keys: [{key: k, partner: p, plan: free}, {key: l, partner: p, plan: gold}, {key: m, partner: p, plan: staff}]
limits:
)";

std::string file(const std::string& keys) { return kBase + ("  - {name: a, per: [service], " + keys + "}\n"); }

Limit load_limit(const std::string& keys) {
  const Config config = load_good(file(keys));
  return config.limits.empty() ? Limit{} : config.limits.front();
}

bool is_accepted(const std::string& keys) { return load_text(file(keys), "weir.yaml", no_environment).has_value(); }

TEST(AlgorithmsTest, EveryWordHasItsAlgorithm) {
  const std::pair<std::string, Algorithm> words[] = {
      {"rate: 5/s, algorithm: token_bucket", Algorithm::kTokenBucket},
      {"rate: 5/s, algorithm: fixed_window", Algorithm::kFixedWindow},
      {"rate: 5/s, algorithm: sliding_window", Algorithm::kSlidingWindow},
      {"rate: 5/s, algorithm: sliding_log", Algorithm::kSlidingLog},
      {"rate: 5/s, algorithm: leaky_bucket", Algorithm::kLeakyBucket},
      {"max: 5, algorithm: concurrency", Algorithm::kConcurrency},
      {"rate: 5/day, algorithm: calendar", Algorithm::kCalendar}};
  for (const auto& [keys, algorithm] : words) {
    const Limit limit = load_limit(keys);
    EXPECT_EQ(limit.algorithm, algorithm) << keys;
    EXPECT_EQ(limit.burst, 5) << keys;
  }
}

TEST(AlgorithmsTest, ALimitWithoutTheirKeysHasTheDefaultsOfTheLanguage) {
  const Limit limit = load_limit("rate: 5/s");
  EXPECT_FALSE(limit.jitter);
  EXPECT_EQ(limit.calendar, CivilCalendar{});
  EXPECT_EQ(limit.calendar.zone, "UTC");
  EXPECT_EQ(limit.calendar.anchor_day, 1);
  EXPECT_EQ(limit.calendar.week_starts, std::chrono::Monday);
  EXPECT_EQ(limit.queue, 0);
  EXPECT_EQ(limit.undelayed, 0);
  EXPECT_EQ(limit.max, 0);
  EXPECT_EQ(limit.lease, 30s);
  EXPECT_EQ(limit.counted, CountedAnswers{});
}

TEST(AlgorithmsTest, WindowsCanStartAtDifferentTimes) {
  EXPECT_TRUE(load_limit("rate: 5/s, algorithm: fixed_window, jitter: true").jitter);
  EXPECT_TRUE(load_limit("rate: 5/s, algorithm: sliding_window, jitter: true").jitter);
  EXPECT_FALSE(load_limit("rate: 5/s, algorithm: sliding_window, jitter: false").jitter);
}

TEST(AlgorithmsTest, TheCapacityOfAWindowIsItsCount) {
  const Limit limit = load_limit("rate: 5/s, algorithm: fixed_window, by: {plan: {free: 7/min, gold: unlimited}}");
  EXPECT_EQ(limit.burst, 5);
  EXPECT_EQ(limit.by, (std::vector<ByRate>{{"plan", "free", Rate{7, 1min}, 7}, {"plan", "gold", std::nullopt, 0}}));
}

TEST(AlgorithmsTest, ALimitOfNothingBlocksWithEveryAlgorithm) {
  for (const char* word : {"token_bucket", "fixed_window", "sliding_window", "sliding_log", "leaky_bucket"}) {
    EXPECT_EQ(load_limit("rate: 0/h, cost: 3, algorithm: " + std::string(word)).burst, 0) << word;
  }
  EXPECT_EQ(load_limit("rate: 0/month, algorithm: calendar").burst, 0);
  EXPECT_EQ(load_limit("rate: 0/s, algorithm: leaky_bucket, queue: 5").queue, 5);
  EXPECT_EQ(load_limit("max: 0, algorithm: concurrency, cost: 2").max, 0);
}

TEST(AlgorithmsTest, ASlidingLogRemembersTenThousandRequestsAtMostAndSaysWhatThatTakes) {
  EXPECT_FALSE(is_accepted("rate: 10001/s, algorithm: sliding_log"));
  const auto loaded = load_text(file("rate: 10000/s, algorithm: sliding_log"), "weir.yaml", no_environment);
  ASSERT_TRUE(loaded);
  ASSERT_EQ(loaded->warnings.size(), 1u);
  EXPECT_EQ(loaded->warnings[0].message,
            "sliding_log remembers every request: up to 161 KB for each account, 1.7 TB for the 10000000 accounts of "
            "store.memory.max_accounts; sliding_window takes 58 bytes an account");
}

TEST(AlgorithmsTest, ABucketThatLeaksHasABurstOrAQueue) {
  EXPECT_EQ(load_limit("rate: 5/s, algorithm: leaky_bucket, burst: 9").burst, 9);
  EXPECT_EQ(load_limit("rate: 5/s, algorithm: leaky_bucket, queue: 0, burst: 9, cost: 3").burst, 9);
  const Limit limit =
      load_limit("rate: 5/s, algorithm: leaky_bucket, queue: 100, undelayed: 100, by: {plan: {gold: 9/s}}");
  EXPECT_EQ(limit.queue, 100);
  EXPECT_EQ(limit.undelayed, 100);
  EXPECT_EQ(limit.burst, 5);
  EXPECT_EQ(limit.by.at(0).burst, 9);
  EXPECT_TRUE(is_accepted("rate: 5/s, algorithm: leaky_bucket, queue: 1000000"));
}

TEST(AlgorithmsTest, AQueueIsServedWithinTenYears) {
  EXPECT_TRUE(is_accepted("rate: 1/day, algorithm: leaky_bucket, queue: 3649"));
  EXPECT_FALSE(is_accepted("rate: 1/day, algorithm: leaky_bucket, queue: 3650"));
  EXPECT_FALSE(is_accepted("rate: 9/s, algorithm: leaky_bucket, queue: 3650, by: {plan: {free: 1/day}}"));
}

TEST(AlgorithmsTest, RequestsAtTheSameTimeAreNumbersInByToo) {
  const Limit limit = load_limit(
      "algorithm: concurrency, max: 20, lease: 1min, cost: 2, by: {plan: {free: 5, gold: 50, staff: unlimited}}");
  EXPECT_FALSE(limit.rate);
  EXPECT_EQ(limit.max, 20);
  EXPECT_EQ(limit.burst, 20);
  EXPECT_EQ(limit.lease, 1min);
  EXPECT_EQ(limit.by, (std::vector<ByRate>{{"plan", "free", std::nullopt, 5, 5, false},
                                           {"plan", "gold", std::nullopt, 50, 50, false},
                                           {"plan", "staff", std::nullopt, 0, 0, true}}));
}

TEST(AlgorithmsTest, ACostOfRequestsAtTheSameTimeIsAtMostTheSmallestMax) {
  const Limit limit = load_limit(
      "algorithm: concurrency, max: 20, cost: {header: X-Cost}, by: {plan: {free: 5, gold: 0, staff: unlimited}}");
  EXPECT_EQ(std::get<HeaderCost>(limit.cost).max, 5);
}

TEST(AlgorithmsTest, QuotasOfTheCalendarHaveAZoneAndDays) {
  const Limit limit = load_limit(
      "rate: 1000/month, algorithm: calendar, by: {plan: {free: 5/week, gold: 9/year, staff: 2/day}}, "
      "calendar: {zone: Asia/Seoul, anchor_day: 31, week_starts: sunday}");
  EXPECT_EQ(limit.rate, (Rate{1000, 0s, CivilUnit::kMonth}));
  EXPECT_EQ(limit.by.at(0).rate, (Rate{5, days(7), CivilUnit::kWeek}));
  EXPECT_EQ(limit.by.at(1).rate, (Rate{9, 0s, CivilUnit::kYear}));
  EXPECT_EQ(limit.by.at(2).rate, (Rate{2, days(1), CivilUnit::kDay}));
  EXPECT_EQ(limit.calendar, (CivilCalendar{"Asia/Seoul", 31, std::chrono::Sunday}));
}

TEST(AlgorithmsTest, TheDaysOfACalendarNeedARateThatUsesThem) {
  EXPECT_FALSE(is_accepted("rate: 1/year, algorithm: calendar, calendar: {anchor_day: 6}"));
  EXPECT_TRUE(
      is_accepted("rate: 1/day, algorithm: calendar, by: {plan: {free: 1/month}}, calendar: {anchor_day: 6}"));
  EXPECT_TRUE(is_accepted("rate: 1/week, algorithm: calendar, calendar: {week_starts: sunday}"));
  EXPECT_TRUE(is_accepted("rate: 1/day, algorithm: calendar, calendar: {anchor_day: 1, week_starts: monday}"));
  EXPECT_FALSE(is_accepted("rate: 1/week, algorithm: calendar, calendar: {anchor_day: 6}"));
  EXPECT_FALSE(is_accepted("rate: 1/month, algorithm: calendar, calendar: {week_starts: sunday}"));
  EXPECT_FALSE(
      is_accepted("rate: unlimited, algorithm: calendar, calendar: {anchor_day: 6}, by: {plan: {free: 1/day}}"));
}

TEST(AlgorithmsTest, ATimeZoneMustExist) {
  const auto zone = [](const std::string& name) {
    return is_accepted("rate: 1/month, algorithm: calendar, calendar: {zone: \"" + name + "\"}");
  };
  for (const char* name : {"UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5"}) {
    EXPECT_TRUE(zone(name)) << name;
  }
  for (const char* name : {"", "Europe", "europe/berlin", "Europe/Berlin ", "/usr/share/zoneinfo/UTC", "../UTC",
                           "file:/etc/localtime", "libc:localtime", "Fixed/UTC+01:00:00"}) {
    EXPECT_FALSE(zone(name)) << name;
  }
}

TEST(AlgorithmsTest, ACityOrASlipFindsItsTimeZone) {
  const Source source("weir.yaml", "");
  Report report(source);
  Reader reader{.report = report, .folder = {}};
  const std::vector<std::string> known{"EST", "UTC", "Asia/Seoul", "Europe/Berlin"};
  EXPECT_EQ(near_time_zone(reader, "Seoul", known), "did you mean 'Asia/Seoul'?");
  EXPECT_EQ(near_time_zone(reader, "asia/berlin", known), "did you mean 'Europe/Berlin'?");
  EXPECT_EQ(near_time_zone(reader, "Europe/Berlni", known), "did you mean 'Europe/Berlin'?");
  EXPECT_EQ(near_time_zone(reader, "CEST", known), "");
  EXPECT_EQ(near_time_zone(reader, "", known), "");
  EXPECT_EQ(near_time_zone(reader, "Asia/Seoul", {}), "");
}

TEST(AlgorithmsTest, AnAnswerCanTellWhatItCosts) {
  const auto cost = [](const std::string& keys) { return std::get<ResponseCost>(load_limit(keys).cost); };
  const ResponseCost shortest = cost("rate: 50/s, cost: {response_header: X_Cost}");
  EXPECT_EQ(shortest.header, "X_Cost");
  EXPECT_EQ(shortest.reserve, 1);
  EXPECT_EQ(shortest.max, 50);
  const ResponseCost all = cost("rate: 50/s, cost: {response_header: X-Cost, reserve: 0, max: 900}");
  EXPECT_EQ(all.reserve, 0);
  EXPECT_EQ(all.max, 900);
}

TEST(AlgorithmsTest, WhatAnAnswerCostsIsBelievedUpToTheLargestCapacity) {
  const Limit limit = load_limit(
      "rate: 50/s, burst: 60, cost: {response_header: X}, by: {plan: {free: 7/s, gold: 800/s, staff: unlimited}}");
  EXPECT_EQ(std::get<ResponseCost>(limit.cost).max, 800);
}

TEST(AlgorithmsTest, OnlyCertainAnswersCountOrAreGivenBack) {
  const CountedAnswers counted = load_limit("rate: 5/min, count: {status: [401, 403, 5xx]}").counted;
  EXPECT_EQ(counted, (CountedAnswers{Rule::kOnly, {{401, 401}, {403, 403}, {500, 599}}}));
  const CountedAnswers refunded = load_limit("rate: 5/min, refund: {status: [1xx, 304]}").counted;
  EXPECT_EQ(refunded, (CountedAnswers{Rule::kAllBut, {{100, 199}, {304, 304}}}));
  EXPECT_TRUE(is_accepted("rate: 5/min, algorithm: sliding_window, cost: 2, count: {status: [100, 599]}"));
  EXPECT_TRUE(is_accepted("rate: 5/min, cost: {header: X-Cost}, refund: {status: [5xx]}"));
}

TEST(AlgorithmsTest, CodesThatChangeNothingAreErrors) {
  EXPECT_FALSE(is_accepted("rate: 5/h, count: {status: [1xx]}"));
  EXPECT_FALSE(is_accepted("rate: 5/h, refund: {status: [2xx, 3xx, 4xx, 5xx]}"));
  EXPECT_TRUE(is_accepted("rate: 5/h, count: {status: [2xx, 3xx, 4xx, 5xx]}"));
  EXPECT_TRUE(is_accepted("rate: 5/h, refund: {status: [1xx, 3xx, 4xx, 5xx]}"));
}

TEST(AlgorithmsTest, AlternativesNameSomething) {
  EXPECT_FALSE(is_accepted("rate: 5/h, by: {}"));
  EXPECT_FALSE(is_accepted("rate: 5/h, by: {plan: {}}"));
}

}  // namespace
}  // namespace weir::config
