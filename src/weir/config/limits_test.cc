// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "weir/config/load_for_test.h"

namespace weir::config {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;
using From = PerAttribute::Source;

constexpr const char* kBase = R"(
listeners: [{address: 127.0.0.1:8080}]
upstreams: {u: {url: "http://a:1"}}
services: {A: {upstream: u, paths: [/a]}, B: {upstream: u}}
callers: [{api_key: {header: X-Api-Key}}, {header: {name: X-User, attribute: user, from: anyone}}]
keys: [{key: k, partner: p, plan: free}]
limits:
)";

Limit load_limit(const std::string& text) {
  const Config config = load_good(kBase + ("  - " + text) + "\n");
  return config.limits.empty() ? Limit{} : config.limits.front();
}

TEST(LimitsTest, AShortLimitGetsTheDefaultsOfTheLanguage) {
  const Limit limit = load_limit("{name: a, per: [partner], rate: 20/s}");
  EXPECT_EQ(limit.name, "a");
  EXPECT_EQ(limit.per, (std::vector{PerAttribute{From::kAttribute, "partner"}}));
  EXPECT_EQ(limit.rate, (Rate{20, 1s}));
  EXPECT_EQ(limit.burst, 20);
  EXPECT_EQ(limit.algorithm, Algorithm::kTokenBucket);
  EXPECT_EQ(std::get<std::int64_t>(limit.cost), 1);
  EXPECT_TRUE(limit.match.empty());
  EXPECT_TRUE(limit.services.empty());
  EXPECT_TRUE(limit.by.empty());
  EXPECT_TRUE(limit.only_if_missing.empty());
  EXPECT_EQ(limit.mode, Mode::kEnforce);
  EXPECT_EQ(limit.on_store_failure, StoreFailure::kOpen);
  EXPECT_EQ(limit.missing, Missing::kSkip);
  EXPECT_TRUE(limit.advertise);
}

TEST(LimitsTest, EveryKeyOfALimitReachesItsMember) {
  const Limit limit = load_limit(R"(
    name: "a limit, \"quoted\""
    per: [user, endpoint, "header:X-Tenant", "query:tenant", "cookie:session"]
    match: [POST /a/products, "* /a/{id}/*", GET /]
    services: [B, A]
    rate: 100/5s
    burst: 300
    algorithm: token_bucket
    cost: 20
    by: {plan: {free: 20/min}, user: {"1": {rate: 1/week, burst: 30}, x: unlimited}}
    only_if: {missing: [partner, plan]}
    mode: shadow
    on_store_failure: local
    missing: share
    advertise: false)");
  EXPECT_EQ(limit.name, "a limit, \"quoted\"");
  EXPECT_EQ(limit.per, (std::vector<PerAttribute>{{From::kAttribute, "user"},
                                                  {From::kAttribute, "endpoint"},
                                                  {From::kHeader, "X-Tenant"},
                                                  {From::kQuery, "tenant"},
                                                  {From::kCookie, "session"}}));
  EXPECT_EQ(limit.match, (std::vector<EndpointPattern>{{"POST", "/a/products", "POST /a/products"},
                                                       {"*", "/a/{id}/*", "* /a/{id}/*"},
                                                       {"GET", "/", "GET /"}}));
  EXPECT_EQ(limit.services, (std::vector<std::size_t>{1, 0}));
  EXPECT_EQ(limit.rate, (Rate{100, 5s}));
  EXPECT_EQ(limit.burst, 300);
  EXPECT_EQ(std::get<std::int64_t>(limit.cost), 20);
  EXPECT_EQ(limit.by, (std::vector<ByRate>{{"plan", "free", Rate{20, 1min}, 20},
                                           {"user", "1", Rate{1, days(7), CivilUnit::kWeek}, 30},
                                           {"user", "x", std::nullopt, 0}}));
  EXPECT_EQ(limit.only_if_missing, (std::vector<std::string>{"partner", "plan"}));
  EXPECT_EQ(limit.mode, Mode::kShadow);
  EXPECT_EQ(limit.on_store_failure, StoreFailure::kLocal);
  EXPECT_EQ(limit.missing, Missing::kShare);
  EXPECT_FALSE(limit.advertise);
}

TEST(LimitsTest, TheRatesOfByKeepTheirOrderAndHaveTheirCountAsBurst) {
  const Limit limit = load_limit(
      "{name: a, per: [user], rate: 5/s, by: {plan: {free: 10/min, gold: {rate: 1000/min, burst: 50}, staff: "
      "unlimited}, "
      "user: {x: {rate: 30/h}}}}");
  EXPECT_EQ(limit.by, (std::vector<ByRate>{{"plan", "free", Rate{10, 1min}, 10},
                                           {"plan", "gold", Rate{1000, 1min}, 50},
                                           {"plan", "staff", std::nullopt, 0},
                                           {"user", "x", Rate{30, 1h}, 30}}));
}

TEST(LimitsTest, AnUnlimitedRateActsThroughBy) {
  const Limit limit = load_limit("{name: a, per: [user], rate: unlimited, by: {plan: {free: 1/s}}}");
  EXPECT_FALSE(limit.rate);
  ASSERT_EQ(limit.by.size(), 1u);
}

TEST(LimitsTest, ACostFromAFieldIsAtMostTheSmallestBurst) {
  const auto cost = [](const std::string& text) { return std::get<HeaderCost>(load_limit(text).cost); };
  const HeaderCost short_form = cost("{name: a, per: [user], rate: 50/s, cost: {header: X-Cost}}");
  EXPECT_EQ(short_form.header, "X-Cost");
  EXPECT_EQ(short_form.fallback, 1);
  EXPECT_EQ(short_form.max, 50);
  const HeaderCost by_plan =
      cost("{name: a, per: [user], rate: 50/s, by: {plan: {free: 7/s}}, cost: {header: X, default: 0}}");
  EXPECT_EQ(by_plan.fallback, 0);
  EXPECT_EQ(by_plan.max, 7);
  EXPECT_EQ(cost("{name: a, per: [user], rate: 50/s, cost: {header: X, default: 2, max: 9}}").max, 9);
  EXPECT_EQ(cost("{name: a, per: [user], rate: 50/s, by: {plan: {free: 0/s}}, cost: {header: X}}").max, 50);
}

struct RateCase {
  std::string text;
  std::int64_t count;
  nanoseconds period;
  CivilUnit civil = CivilUnit::kNone;
};

TEST(LimitsTest, RatesAreCountsInUnitsOrSpansOfTime) {
  const RateCase cases[] = {{"20/s", 20, 1s},
                            {"100/min", 100, 1min},
                            {"6/h", 6, 1h},
                            {"5/day", 5, days(1), CivilUnit::kDay},
                            {"5/1day", 5, days(1)},
                            {"1/week", 1, days(7), CivilUnit::kWeek},
                            {"1/7day", 1, days(7)},
                            {"100/5s", 100, 5s},
                            {"3/250ms", 3, 250ms},
                            {"1/ms", 1, 1ms},
                            {"1000000000000/s", 1'000'000'000'000, 1s},
                            {"1/400day", 1, days(400)}};
  for (const auto& [text, count, period, civil] : cases) {
    EXPECT_EQ(load_limit("{name: a, per: [user], rate: " + text + "}").rate, (Rate{count, period, civil})) << text;
  }
}

TEST(LimitsTest, TheLongestRefillIsTenYears) {
  EXPECT_EQ(load_limit("{name: a, per: [user], rate: 1/day, burst: 3650}").burst, 3650);
  const auto faults = load_bad(kBase + std::string("  - {name: a, per: [user], rate: 1/day, burst: 3651}\n"));
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].message, "an empty bucket of this size would take more than 10 years to refill");
}

TEST(LimitsTest, ARateWithoutAFixedLengthIsRefusedOnceAndWhereItStands) {
  const auto month = load_bad(kBase + std::string("  - {name: a, per: [user], rate: 1/month}\n"));
  ASSERT_EQ(month.size(), 1u);
  EXPECT_TRUE(month[0].message.starts_with("a rate per month or year needs `algorithm: calendar`"))
      << month[0].message;
  const auto by =
      load_bad(kBase + std::string("  - {name: a, per: [user], rate: 1/s, by: {plan: {free: 9/year}}}\n"));
  ASSERT_EQ(by.size(), 1u);
  EXPECT_EQ(by[0].column, 57);
}

TEST(LimitsTest, APatternThatNoServiceOfTheLimitReachesIsWarnedAbout) {
  const std::string base = R"(
listeners: [{address: 127.0.0.1:8080}]
upstreams: {u: {url: "http://a:1"}}
services: {A: {upstream: u, paths: [/a/b, /x]}, B: {upstream: u, paths: [/c]}}
limits:
)";
  const auto accepted = [&](const std::string& keys) {
    const auto loaded =
        load_text(base + "  - {name: a, per: [service], rate: 1/s, " + keys + "}\n", "weir.yaml", no_environment);
    return loaded.has_value() && loaded->warnings.empty();
  };
  for (const char* path : {"/a/b", "/a/b/c", "/{x}/b", "/a/*", "/*", "/{x}/{y}/{z}", "/c/{id}", "/x"}) {
    EXPECT_TRUE(accepted("match: [\"GET " + std::string(path) + "\"]")) << path;
  }
  for (const char* path : {"/a", "/a/bb", "/", "/b/*", "/a/c/{id}", "/d/{x}"}) {
    EXPECT_FALSE(accepted("match: [\"GET " + std::string(path) + "\"]")) << path;
  }
  EXPECT_TRUE(accepted("match: [GET /c/d], services: [B]"));
  EXPECT_FALSE(accepted("match: [GET /c/d], services: [A]"));
  EXPECT_TRUE(accepted("match: [GET /c/d], services: [A, B]"));
}

TEST(LimitsTest, TenThousandLimitsAreRead) {
  std::string text = kBase;
  for (int i = 0; i < 10'000; ++i) {
    text += "  - {name: limit-" + std::to_string(i) + ", per: [partner], match: [GET /a/" + std::to_string(i) +
            "], rate: 20/s}\n";
  }
  EXPECT_EQ(load_good(text).limits.size(), 10'000u);
}

}  // namespace
}  // namespace weir::config
