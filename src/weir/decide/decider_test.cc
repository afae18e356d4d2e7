// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <random>

#include "weir/decide/testing/desk.h"

namespace weir::decide {
namespace {

using decide::testing::Desk;
using decide::testing::Fields;
using decide::testing::kMinute;
using decide::testing::kSecond;
using policy::testing::limit;
using policy::testing::with_limits;

config::Limit shadowed(config::Limit limit) {
  limit.mode = config::Mode::kShadow;
  return limit;
}

config::Limit costing(config::Limit limit, std::int64_t cost) {
  limit.cost = cost;
  return limit;
}

TEST(DeciderTest, WithoutALimitEverythingIsAdmitted) {
  Desk desk(with_limits({}));
  const Decision& decision = desk.ask("GET /");
  EXPECT_TRUE(decision.admitted);
  EXPECT_EQ(decision.reached, Reached::kNoLimit);
  EXPECT_EQ(decision.binding(), nullptr);
  EXPECT_EQ(decision.retry_after(), 0);
}

TEST(DeciderTest, ALimitAdmitsItsBurstAndTellsWhenToComeBack) {
  Desk desk(with_limits({limit("partner", {"partner"}, 3)}));
  EXPECT_EQ(desk.show("GET /", {"X-Partner: p"}), "admitted partner=2");
  EXPECT_EQ(desk.last().reached, Reached::kEvaluated);
  EXPECT_EQ(desk.drain("GET /", {"X-Partner: p"}), 2);
  EXPECT_EQ(desk.last().retry_after(), 20 * kSecond);
  EXPECT_EQ(desk.show("GET /", {"X-Partner: q"}), "admitted partner=2");
  desk.now += 20 * kSecond - 1;
  EXPECT_FALSE(desk.ask("GET /", {"X-Partner: p"}).admitted);
  desk.now += 1;
  EXPECT_TRUE(desk.ask("GET /", {"X-Partner: p"}).admitted);
}

TEST(DeciderTest, ARefusedEndpointTakesNothingFromThePartner) {
  Desk desk(with_limits({limit("partner-service", {"partner", "service"}, 20),
                         limit("create-product", {"partner", "service"}, 2, {"POST /products"})}));
  const Fields p = {"X-Partner: p"};
  EXPECT_EQ(desk.show("POST /products", p), "admitted create-product=1 partner-service=19");
  EXPECT_EQ(desk.drain("POST /products", p), 1);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(desk.show("POST /products", p), "refused create-product=0! partner-service=18");
  }
  EXPECT_EQ(desk.show("GET /products", p), "admitted partner-service=17");
}

TEST(DeciderTest, WhatOtherAccountsTookIsGivenBack) {
  Desk desk(with_limits({limit("everybody", {}, 5), costing(limit("partner", {"partner"}, 10), 2),
                         limit("pair", {"partner", "user"}, 100)}));
  EXPECT_EQ(desk.drain("GET /", {"X-Partner: p", "X-User: u"}), 5);
  EXPECT_EQ(desk.show("GET /", {"X-Partner: q", "X-User: u"}), "refused everybody=0!");
  desk.now += kMinute;  // all but `pair` of the first partner are full again, and so is it
  EXPECT_EQ(desk.show("GET /", {"X-Partner: q", "X-User: u"}), "admitted everybody=4 partner=8 pair=99");
  EXPECT_EQ(desk.drain("GET /", {"X-Partner: q", "X-User: u"}), 4);
  EXPECT_EQ(desk.show("GET /", {"X-Partner: q", "X-User: u"}), "refused partner=0!");
  desk.now += 12 * kSecond;  // one token for everybody, two for the partner
  EXPECT_EQ(desk.show("GET /", {"X-Partner: q", "X-User: u"}), "admitted partner=0 everybody=0 pair=99");
  EXPECT_EQ(desk.drain("GET /", {"X-Partner: r", "X-User: u"}), 0);
  desk.now += kMinute;
  EXPECT_EQ(desk.show("GET /", {"X-Partner: r", "X-User: u"}), "admitted everybody=4 partner=8 pair=99");
}

TEST(DeciderTest, TheBindingLimitComesFirstThenConfigurationOrder) {
  const struct {
    std::vector<config::Limit> limits;
    std::string_view first, last;  // the first decision, and the first refusal
  } kRows[] = {
      // Smallest remaining.
      {{limit("a", {}, 9), limit("b", {}, 3), limit("c", {}, 7)}, "admitted b=2 a=8 c=6", "refused b=0! a=6 c=4"},
      // Then the longest way to full: 1 of 60 per minute is a second, 1 of 30 two.
      {{limit("a", {}, 60), limit("b", {}, 30)}, "admitted b=29 a=59", "refused b=0! a=30"},
      {{costing(limit("a", {}, 30), 10), costing(limit("b", {}, 30), 10)}, "admitted a=20 b=20", "refused a=0! b=0!"},
      // Never comes before any wait.
      {{limit("a", {}, 0), limit("b", {}, 5)}, "refused a=0! b=5", "refused a=0! b=5"},
      {{limit("a", {}, 5), costing(limit("b", {}, 5), 6)}, "refused b=5! a=5", "refused b=5! a=5"},
      // Accounts in another order than the configuration.
      {{limit("a", {}, 5), limit("b", {"address"}, 5), limit("c", {"address", "service"}, 5)},
       "admitted c=4 a=4 b=4",
       "refused c=0!"},
  };
  for (const auto& row : kRows) {
    auto limits = row.limits;
    for (config::Limit& limit : limits) {
      if (limit.rate->count == 0) limit.rate->count = 1;  // a burst of 0 is what refuses for ever
    }
    Desk desk(with_limits(limits));
    EXPECT_EQ(desk.show("GET /"), row.first);
    desk.drain("GET /");
    EXPECT_EQ(desk.show("GET /"), row.last);
  }
}

TEST(DeciderTest, EqualRemainingIsDecidedByTheLongerReset) {
  auto slow = limit("slow", {}, 10);
  slow.rate = config::Rate{1, std::chrono::minutes(1)};
  Desk desk(with_limits({limit("fast", {}, 10), slow}));
  EXPECT_EQ(desk.show("GET /"), "admitted slow=9 fast=9");
}

TEST(DeciderTest, OnATieTheNarrowestLimitBinds) {
  Desk desk(with_limits({limit("all", {"address"}, 3), limit("endpoint", {"address"}, 3, {"GET /a"}),
                         limit("each", {"address", "method"}, 3)}));
  EXPECT_EQ(desk.show("GET /a"), "admitted each=2 all=2 endpoint=2");
  EXPECT_EQ(desk.show("GET /a"), "admitted each=1 all=1 endpoint=1");
  desk.drain("GET /a");
  EXPECT_EQ(desk.show("GET /a"), "refused each=0! all=0! endpoint=0!");
  EXPECT_EQ(desk.show("POST /a"), "refused all=0! each=3");
  Desk without(with_limits({limit("all", {"address"}, 3), limit("endpoint", {"address"}, 3, {"GET /a"})}));
  EXPECT_EQ(without.show("GET /a"), "admitted endpoint=2 all=2");
}

TEST(DeciderTest, OfSeveralRefusingLimitsTheLongestWaitBinds) {
  auto hourly = limit("hourly", {}, 2);
  hourly.rate = config::Rate{2, std::chrono::hours(1)};
  Desk desk(with_limits({limit("minutely", {}, 2), hourly}));
  EXPECT_EQ(desk.drain("GET /"), 2);
  EXPECT_EQ(desk.show("GET /"), "refused hourly=0! minutely=0!");
  EXPECT_EQ(desk.last().retry_after(), 30 * kMinute);
}

TEST(DeciderTest, WhatCanNeverPassHasNoWait) {
  Desk desk(with_limits({costing(limit("a", {}, 5), 6)}));
  EXPECT_FALSE(desk.ask("GET /").admitted);
  EXPECT_EQ(desk.last().retry_after(), std::nullopt);
}

TEST(DeciderTest, AMissingAttributeRefusesWithoutTakingAnything) {
  auto refuse = limit("refuse", {"user"}, 5);
  refuse.missing = config::Missing::kRefuse;
  Desk desk(with_limits({limit("all", {}, 5), refuse}));
  const Decision& decision = desk.ask("GET /");
  EXPECT_FALSE(decision.admitted);
  EXPECT_EQ(decision.reached, Reached::kMissing);
  EXPECT_EQ(decision.missing, 1);
  EXPECT_TRUE(decision.outcomes.empty());
  EXPECT_EQ(decision.retry_after(), std::nullopt);
  EXPECT_EQ(desk.show("GET /", {"X-User: u"}), "admitted refuse=4 all=4");
  EXPECT_EQ(desk.last().missing, policy::Charges::kNone);
}

TEST(DeciderTest, ASharedAccountIsOneForAllWithoutTheAttribute) {
  auto share = limit("share", {"user"}, 2);
  share.missing = config::Missing::kShare;
  auto skip = limit("skip", {"user"}, 1);
  Desk desk(with_limits({share, skip}));
  EXPECT_EQ(desk.drain("GET /", {"X-Partner: p"}), 2);
  EXPECT_EQ(desk.drain("GET /", {"X-Partner: q"}), 0);
  EXPECT_EQ(desk.drain("GET /", {"X-User: u"}), 1);
}

TEST(DeciderTest, CallersOnTheBypassListAreNotLimited) {
  config::Config config = with_limits({limit("all", {}, 1)});
  config.bypass = {config::HeaderBypass{"X-Role", "ADMIN", config::TrustedFrom::kAnyone}};
  Desk desk(config);
  EXPECT_EQ(desk.drain("GET /"), 1);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(desk.ask("GET /", {"X-Role: ADMIN"}).admitted);
  EXPECT_EQ(desk.last().reached, Reached::kNoLimit);
}

TEST(DeciderTest, PlansHaveTheirOwnRates) {
  auto user = limit("user", {"user"}, 2);
  user.by = {{"plan", "gold", config::Rate{10, std::chrono::minutes(1)}, 10}, {"plan", "none", std::nullopt, 0}};
  Desk desk(with_limits({user}));
  EXPECT_EQ(desk.drain("GET /", {"X-User: a"}), 2);
  EXPECT_EQ(desk.drain("GET /", {"X-User: b", "X-Plan: gold"}), 10);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(desk.ask("GET /", {"X-User: a", "X-Plan: none"}).admitted);
  EXPECT_EQ(desk.last().reached, Reached::kNoLimit);
}

TEST(DeciderTest, AnonymousLimitsActOnlyOnTheAnonymous) {
  auto anonymous = limit("anonymous", {"address"}, 2);
  anonymous.only_if_missing = {"partner", "user"};
  Desk desk(with_limits({anonymous}));
  EXPECT_EQ(desk.drain("GET /"), 2);
  EXPECT_EQ(desk.show("GET /", {"X-User: u"}), "admitted");
}

TEST(DeciderTest, CostsFromAFieldAreTaken) {
  auto field = limit("field", {}, 100);
  field.cost = config::HeaderCost{"X-Cost", 1, 50};
  Desk desk(with_limits({field}));
  EXPECT_EQ(desk.show("GET /", {"X-Cost: 30"}), "admitted field=70");
  EXPECT_EQ(desk.show("GET /", {"X-Cost: 500"}), "admitted field=20");
  EXPECT_EQ(desk.show("GET /", {"X-Cost: 21"}), "refused field=20!");
  EXPECT_EQ(desk.show("GET /", {"X-Cost: 0"}), "admitted field=19");
}

TEST(DeciderTest, EndpointsAndMethodsCountApartInOneAccount) {
  Desk desk(with_limits({limit("each", {"address", "endpoint", "method"}, 1), limit("all", {"address"}, 3),
                         limit("a", {"user"}, 1, {"* /a"})}));
  EXPECT_EQ(desk.show("GET /a"), "admitted each=0 all=2");
  EXPECT_EQ(desk.show("HEAD /a"), "refused each=0! all=2");
  EXPECT_EQ(desk.show("POST /a"), "admitted each=0 all=1");
  EXPECT_EQ(desk.show("GET /b"), "admitted each=0 all=0");
  EXPECT_EQ(desk.show("POST /b"), "refused all=0! each=1");
}

TEST(DeciderTest, MoreLimitsThanOneStepTakesAreStillAllOrNothing) {
  std::vector<config::Limit> limits;
  for (int i = 0; i < 100; ++i) limits.push_back(limit("l" + std::to_string(i), {}, i == 99 ? 2 : 50));
  Desk desk(with_limits(limits));
  EXPECT_EQ(desk.drain("GET /"), 2);
  desk.now += 30 * kSecond;  // one token for the last limit, all for the others
  ASSERT_TRUE(desk.ask("GET /").admitted);
  ASSERT_EQ(desk.last().outcomes.size(), 100U);
  EXPECT_EQ(desk.last().binding()->limit, 99);
  EXPECT_EQ(desk.last().outcomes[1].outcome.remaining, 49);
}

TEST(DeciderTest, ShadowLimitsAreReportedAndRefuseNothing) {
  Desk desk(with_limits({shadowed(limit("tight", {}, 1)), limit("all", {}, 3)}));
  EXPECT_EQ(desk.show("GET /"), "admitted all=2");
  EXPECT_EQ(desk.show_shadow(), " tight=0");
  EXPECT_EQ(desk.show("GET /"), "admitted all=1");
  EXPECT_EQ(desk.show_shadow(), " tight=0!");
  desk.drain("GET /");
  EXPECT_EQ(desk.show_shadow(), "");  // refused requests are not counted
}

TEST(DeciderTest, OnlyShadowLimitsAreNoLimit) {
  Desk desk(with_limits({shadowed(limit("tight", {}, 1))}));
  EXPECT_EQ(desk.ask("GET /").reached, Reached::kNoLimit);
  EXPECT_EQ(desk.last().binding(), nullptr);
  EXPECT_EQ(desk.show_shadow(), " tight=0");
}

std::string any_of(std::mt19937& random, std::initializer_list<const char*> words) {
  return words.begin()[std::uniform_int_distribution<std::size_t>(0, words.size() - 1)(random)];
}

config::Limit random_limit(std::mt19937& random, const std::string& name) {
  static const std::vector<std::vector<std::string>> kPers = {
      {}, {"partner"}, {"user"}, {"partner", "user"}, {"partner", "service"}, {"partner", "endpoint"}};
  const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  auto made = limit(name, kPers[static_cast<std::size_t>(below(6))], 1 + below(30));
  if (below(3) == 0) made.match = {policy::testing::pattern(any_of(random, {"GET /a", "* /a", "POST /{x}", "* /*"}))};
  if (below(3) == 0) made.cost = std::int64_t{below(4)};
  made.missing = below(4) == 0 ? config::Missing::kShare : config::Missing::kSkip;
  made.algorithm = static_cast<config::Algorithm>(below(7));
  switch (made.algorithm) {
    case config::Algorithm::kFixedWindow:
    case config::Algorithm::kSlidingWindow:
      made.jitter = below(2) == 0;
      break;
    case config::Algorithm::kLeakyBucket:
      made.queue = below(5);
      if (made.queue > 0) made.cost = std::int64_t{1};
      break;
    case config::Algorithm::kConcurrency:
      made.max = made.burst;
      break;
    case config::Algorithm::kCalendar:
      made.rate->civil = config::CivilUnit::kDay;
      break;
    default:
      break;
  }
  const bool settles = below(3) == 0 && made.queue == 0 && made.algorithm != config::Algorithm::kConcurrency;
  if (settles) made.counted = {config::CountedAnswers::Rule::kOnly, {{400, 499}}};
  return made;
}

TEST(DeciderTest, ShadowLimitsChangeNoDecision) {
  std::mt19937 random(31);
  const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  for (int round = 0; round < 40; ++round) {
    std::vector<config::Limit> limits;
    for (int i = 0; i < 4; ++i) limits.push_back(random_limit(random, "l" + std::to_string(i)));
    Desk without(with_limits(limits));
    for (int i = 0; i < 4; ++i) limits.push_back(shadowed(random_limit(random, "s" + std::to_string(i))));
    Desk with(with_limits(limits));
    for (int request = 0; request < 200; ++request) {
      const std::string start = any_of(random, {"GET /a", "POST /a", "GET /b", "GET /shop/x"});
      const Fields fields = {"X-Partner: " + any_of(random, {"p", "q", ""}), "X-User: " + any_of(random, {"u", ""})};
      with.now = without.now += std::uniform_int_distribution<limit::Ticks>(0, 2 * kSecond)(random);
      ASSERT_EQ(with.show(start, fields), without.show(start, fields)) << round << " " << request;
      ASSERT_EQ(with.last().retry_after(), without.last().retry_after());
      ASSERT_EQ(with.last().starts_at(), without.last().starts_at());
      const int status = below(2) == 0 ? 200 : 404;
      ASSERT_EQ(with.answer(status), without.answer(status));
      if (below(3) > 0) {
        with.finish();
        without.finish();
      }
    }
  }
}

TEST(DeciderTest, AReloadKeepsTheCountsWhoseMeaningIsTheSame) {
  const Fields p = {"X-Partner: p"};
  auto kept = limit("kept", {"partner"}, 10);
  auto each = limit("each", {"partner", "endpoint"}, 5, {"GET /b"});
  Desk desk(with_limits({kept, limit("removed", {"partner"}, 10), each}));
  EXPECT_EQ(desk.show("GET /b", p), "admitted each=4 kept=9 removed=9");
  EXPECT_EQ(desk.show("GET /b", p), "admitted each=3 kept=8 removed=8");

  // One limit is gone, one is new, patterns are numbered anew, the services changed.
  config::Config config = with_limits({limit("new", {"address"}, 7, {"GET /a"}), each, kept});
  config.services.pop_back();
  desk.load(config);
  EXPECT_EQ(desk.show("GET /b", p), "admitted each=2 kept=7");

  // A raised limit keeps what was used: 3 of 20.
  kept = limit("kept", {"partner"}, 20);
  desk.load(with_limits({kept}));
  EXPECT_EQ(desk.show("GET /b", p), "admitted kept=16");
}

}  // namespace
}  // namespace weir::decide
