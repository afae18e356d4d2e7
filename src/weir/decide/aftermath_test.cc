// SPDX-License-Identifier: Apache-2.0
//
// What is still to be done about a request that was admitted: waiting in line, running, and settling its cost.
#include <gtest/gtest.h>

#include <array>

#include "weir/decide/testing/desk.h"

namespace weir::decide {
namespace {

using decide::testing::Desk;
using decide::testing::kMinute;
using decide::testing::kSecond;
using policy::testing::limit;
using policy::testing::with_limits;

config::Limit line(std::string name, const std::vector<std::string>& per, std::int64_t per_minute, std::int64_t queue,
                   std::int64_t undelayed = 0) {
  config::Limit made = limit(std::move(name), per, per_minute);
  made.algorithm = config::Algorithm::kLeakyBucket;
  made.queue = queue;
  made.undelayed = undelayed;
  return made;
}

config::Limit running(std::string name, const std::vector<std::string>& per, std::int64_t max) {
  config::Limit made = limit(std::move(name), per, max);
  made.algorithm = config::Algorithm::kConcurrency;
  made.rate.reset();
  made.max = max;
  return made;
}

config::Limit counting(config::Limit limit, config::CountedAnswers::Rule rule, int first, int last) {
  limit.counted = {rule, {{first, last}}};
  return limit;
}

config::Limit costing_what_the_answer_says(config::Limit limit, std::int64_t reserve, std::int64_t max = 0) {
  limit.cost = config::ResponseCost{"X-Cost", reserve, max};
  return limit;
}

struct Counting final : Lines::Waiter {
  void moved_up() override { ++times; }
  int times = 0;
};

TEST(LineTest, RequestsStartAtTheRateInTheOrderInWhichTheyCame) {
  Desk desk(with_limits({line("line", {}, 60, 4)}));
  Counting waiter;
  std::vector<std::unique_ptr<Decision>> waiting;
  for (int i = 0; i < 5; ++i) {
    waiting.push_back(desk.keep("GET /", {}, &waiter));
    EXPECT_TRUE(waiting.back()->admitted);
    EXPECT_EQ(waiting.back()->starts_at() - desk.now, i * kSecond);
    EXPECT_EQ(waiting.back()->waits(), i > 0);
  }
  EXPECT_FALSE(desk.ask("GET /", {}, &waiter).admitted);
  EXPECT_EQ(desk.last().retry_after(), kSecond);
  EXPECT_EQ(desk.lines().size(), 4);
}

TEST(LineTest, SomeNeedNotWait) {
  Desk desk(with_limits({line("line", {}, 60, 4, 2)}));
  Counting waiter;
  std::vector<std::unique_ptr<Decision>> waiting;
  for (const int delay : {0, 0, 0, 1, 2}) {
    waiting.push_back(desk.keep("GET /", {}, &waiter));
    EXPECT_EQ(waiting.back()->starts_at() - desk.now, delay * kSecond);
  }
  EXPECT_EQ(desk.lines().size(), 2);
}

TEST(LineTest, WhoLeavesLetsThoseBehindMoveUpAndNobodyElse) {
  Desk desk(with_limits({line("line", {"partner"}, 60, 9)}));
  std::array<Counting, 6> waiters;
  std::vector<std::unique_ptr<Decision>> waiting;
  for (Counting& waiter : waiters) waiting.push_back(desk.keep("GET /", {"X-Partner: p"}, &waiter));
  const auto other = desk.keep("GET /", {"X-Partner: q"}, &waiters[0]);
  const limit::Ticks began = desk.now;
  desk.now += kSecond / 2;
  desk.decider().leave(*waiting[2], desk.call());
  const std::array<int, 6> starts{0, 1, 0, 2, 3, 4};
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    if (i != 2) {
      EXPECT_EQ(waiting[i]->starts_at() - began, starts[i] * kSecond) << i;
    }
    EXPECT_EQ(waiters[i].times, i > 2 ? 1 : 0) << i;
  }
  // The next one stands behind the last, not where it would have stood.
  EXPECT_EQ(desk.keep("GET /", {"X-Partner: p"}, &waiters[0])->starts_at() - began, 5 * kSecond);
}

TEST(LineTest, TheLastToLeaveLeavesNothingBehind) {
  Desk desk(with_limits({line("line", {}, 60, 9)}));
  Counting waiter;
  desk.ask("GET /");
  for (int i = 0; i < 3; ++i) {
    auto one = desk.keep("GET /", {}, &waiter);
    EXPECT_EQ(one->starts_at() - desk.now, kSecond);
    desk.decider().leave(*one, desk.call());
  }
  EXPECT_EQ(desk.lines().size(), 0);
  EXPECT_EQ(waiter.times, 0);
}

TEST(LineTest, WhoStartsStandsInNoLineAnyMore) {
  Desk desk(with_limits({line("line", {}, 60, 9)}));
  Counting waiter;
  desk.ask("GET /");
  auto first = desk.keep("GET /", {}, &waiter);
  auto second = desk.keep("GET /", {}, &waiter);
  desk.now += kSecond;
  desk.decider().start(*first, desk.call());
  EXPECT_EQ(desk.lines().size(), 1);
  desk.decider().finish(*first, desk.call());
  EXPECT_EQ(second->starts_at() - desk.now, kSecond) << "the end of a request moves nobody up";
}

TEST(LineTest, TheLongestOfSeveralLinesCounts) {
  Desk desk(with_limits({line("slow", {}, 30, 9), line("fast", {"partner"}, 60, 9)}));
  Counting waiter;
  desk.ask("GET /", {"X-Partner: p"});
  auto both = desk.keep("GET /", {"X-Partner: p"}, &waiter);
  EXPECT_EQ(both->starts_at() - desk.now, 2 * kSecond);
  EXPECT_EQ(desk.lines().size(), 2);
  desk.decider().leave(*both, desk.call());
  EXPECT_EQ(desk.keep("GET /", {"X-Partner: p"}, &waiter)->starts_at() - desk.now, 2 * kSecond);
}

TEST(LineTest, APlaceThatALaterAccountRefusesIsFreeAgain) {
  Desk desk(with_limits({line("line", {"partner", "user"}, 60, 9), line("short", {"partner"}, 60, 1)}));
  Counting waiter;
  const auto ask = [&](const char* user) {
    return desk.keep("GET /", {"X-Partner: p", std::string("X-User: ") + user}, &waiter);
  };
  const auto first = ask("u");
  const auto second = ask("u");
  EXPECT_EQ(second->starts_at() - desk.now, kSecond);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(ask("u")->admitted);
  EXPECT_EQ(desk.lines().size(), 2) << "both of the second";
  desk.now += kSecond;
  EXPECT_EQ(ask("u")->starts_at() - desk.now, kSecond);
}

TEST(LineTest, ALineStaysTheSameOverAReload) {
  const config::Limit kept = line("line", {"partner"}, 60, 9);
  Desk desk(with_limits({limit("first", {"partner"}, 100), kept}));
  Counting waiter;
  desk.ask("GET /", {"X-Partner: p"});
  auto before = desk.keep("GET /", {"X-Partner: p"}, &waiter);
  desk.load(with_limits({kept}));
  auto after = desk.keep("GET /", {"X-Partner: p"}, &waiter);
  EXPECT_EQ(after->starts_at() - desk.now, 2 * kSecond);
  desk.decider().leave(*before, desk.call());
  EXPECT_EQ(after->starts_at() - desk.now, kSecond);
}

TEST(LineTest, AFasterRateThatIsPutInForceLetsEverybodyStartEarlierInTheirOrder) {
  Desk desk(with_limits({line("line", {}, 60, 9)}));
  Counting waiter;
  std::vector<std::unique_ptr<Decision>> waiting;
  for (int i = 0; i < 6; ++i) waiting.push_back(desk.keep("GET /", {}, &waiter));
  desk.load(with_limits({line("line", {}, 600, 9)}));
  desk.decider().reschedule(desk.call());
  waiting.push_back(desk.keep("GET /", {}, &waiter));
  for (int i = 1; i < 7; ++i) {
    EXPECT_LE(waiting[i]->starts_at() - desk.now, i * kSecond / 10) << i;
    if (i > 1) {
      EXPECT_GE(waiting[i]->starts_at() - waiting[i - 1]->starts_at(), kSecond / 10 - 1) << i;
    }
  }
  EXPECT_EQ(waiter.times, 5);
}

TEST(LineTest, ASlowerRateThatIsPutInForceKeepsTheOrder) {
  Desk desk(with_limits({line("line", {}, 600, 9)}));
  Counting waiter;
  std::vector<std::unique_ptr<Decision>> waiting;
  for (int i = 0; i < 4; ++i) waiting.push_back(desk.keep("GET /", {}, &waiter));
  desk.load(with_limits({line("line", {}, 60, 9)}));
  desk.decider().reschedule(desk.call());
  for (int i = 0; i < 2; ++i) {
    waiting.push_back(desk.keep("GET /", {}, &waiter));
    EXPECT_GE(waiting.back()->starts_at() - waiting[waiting.size() - 2]->starts_at(), kSecond);
  }
}

TEST(LineTest, WhereThereIsNoLineAnyMoreNobodyWaits) {
  Desk desk(with_limits({line("line", {}, 60, 9)}));
  Counting waiter;
  desk.ask("GET /");
  const auto one = desk.keep("GET /", {}, &waiter);
  desk.load(with_limits({limit("other", {}, 60)}));
  desk.decider().reschedule(desk.call());
  EXPECT_FALSE(one->waits());
  EXPECT_EQ(waiter.times, 1);
}

TEST(LineTest, WhoLeavesAfterItsTimeHasComeMovesNobody) {
  Desk desk(with_limits({line("slow", {}, 30, 9), line("fast", {"partner"}, 60, 9)}));
  Counting waiter;
  desk.ask("GET /", {"X-Partner: p"});
  const auto both = desk.keep("GET /", {"X-Partner: p"}, &waiter);
  const auto behind = desk.keep("GET /", {"X-Partner: p"}, &waiter);
  const limit::Ticks began = desk.now;
  desk.now += kSecond * 3 / 2;  // its time in the fast line has passed, that in the slow one has not
  desk.decider().leave(*both, desk.call());
  EXPECT_EQ(behind->starts_at() - began, 2 * kSecond) << "in the slow line it has moved up";
  EXPECT_EQ(behind->held.back().info->name, "slow");
  EXPECT_EQ(behind->held.front().place->starts_at() - began, 2 * kSecond) << "in the fast one it has not";
}

TEST(LeaseTest, APlaceIsHeldUntilTheRequestIsOver) {
  Desk desk(with_limits({running("running", {"partner"}, 2), limit("rate", {"partner"}, 100)}));
  auto one = desk.keep("GET /", {"X-Partner: p"});
  auto two = desk.keep("GET /", {"X-Partner: p"});
  EXPECT_EQ(desk.show("GET /", {"X-Partner: p"}), "refused running=0! rate=98");
  EXPECT_EQ(desk.last().retry_after(), kSecond) << "a hint";
  EXPECT_EQ(one->renewal, 10 * kSecond);
  desk.decider().finish(*one, desk.call());
  desk.decider().finish(*one, desk.call());
  EXPECT_EQ(desk.show("GET /", {"X-Partner: p"}), "admitted running=0 rate=97");
  EXPECT_EQ(desk.show("GET /", {"X-Partner: p"}), "refused running=0! rate=97");
}

TEST(LeaseTest, ALeaseThatIsRenewedLivesOnAndOneThatIsNotRunsOut) {
  Desk desk(with_limits({running("running", {}, 2)}));
  auto renewed = desk.keep("GET /");
  auto vanished = desk.keep("GET /");
  desk.now += 20 * kSecond;
  EXPECT_TRUE(desk.decider().renew(*renewed, desk.call()));
  desk.now += 10 * kSecond;
  EXPECT_EQ(desk.show("GET /"), "admitted running=0");
  EXPECT_FALSE(desk.decider().renew(*vanished, desk.call()));
}

TEST(LeaseTest, APlaceThatALaterAccountRefusesIsFreeAgain) {
  Desk desk(with_limits({running("mine", {"partner", "user"}, 5), running("all", {"partner"}, 1)}));
  auto first = desk.keep("GET /", {"X-Partner: p", "X-User: u"});
  EXPECT_TRUE(first->admitted);
  for (int i = 0; i < 9; ++i) EXPECT_FALSE(desk.ask("GET /", {"X-Partner: p", "X-User: u"}).admitted);
  desk.decider().finish(*first, desk.call());
  EXPECT_EQ(desk.show("GET /", {"X-Partner: p", "X-User: u"}), "admitted all=0 mine=4");
}

TEST(LeaseTest, AccountsThatHoldPlacesAreAskedLast) {
  Desk desk(with_limits({running("running", {"partner", "user"}, 5), limit("rate", {"partner"}, 1)}));
  desk.ask("GET /", {"X-Partner: p", "X-User: u"});
  EXPECT_EQ(desk.show("GET /", {"X-Partner: p", "X-User: u"}), "refused rate=0!");
}

TEST(SettleTest, OnlyTheAnswersThatCountAreCounted) {
  Desk desk(with_limits({counting(limit("failed", {}, 3), config::CountedAnswers::Rule::kOnly, 401, 403)}));
  EXPECT_EQ(desk.show("GET /"), "admitted failed=2");
  EXPECT_EQ(desk.answer(200), "admitted failed=3");
  EXPECT_EQ(desk.last().outcomes[0].outcome.next_after, std::nullopt);
  desk.ask("GET /");
  EXPECT_EQ(desk.answer(401), "admitted failed=2");
}

TEST(SettleTest, SomeAnswersAreGivenBack) {
  Desk desk(with_limits(
      {counting(limit("good", {}, 3), config::CountedAnswers::Rule::kAllBut, 500, 599), limit("all", {}, 9)}));
  EXPECT_EQ(desk.show("GET /"), "admitted good=2 all=8");
  EXPECT_EQ(desk.answer(503), "admitted good=3 all=8");
  desk.ask("GET /");
  EXPECT_EQ(desk.answer(404), "admitted good=2 all=7");
}

TEST(SettleTest, TheAnswerSaysWhatItCost) {
  Desk desk(with_limits({costing_what_the_answer_says(limit("units", {}, 100), 10)}));
  EXPECT_EQ(desk.show("GET /"), "admitted units=90");
  EXPECT_EQ(desk.answer(200, "3"), "admitted units=97");
  desk.ask("GET /");
  EXPECT_EQ(desk.answer(200, "40"), "admitted units=57");
  desk.ask("GET /");
  EXPECT_EQ(desk.answer(200), "admitted units=47") << "the reserve stays";
  desk.ask("GET /");
  EXPECT_EQ(desk.answer(200, "-1"), "admitted units=37") << "no number";
  desk.ask("GET /");
  EXPECT_EQ(desk.answer(200, "0"), "admitted units=37");
  desk.ask("GET /");
  EXPECT_EQ(desk.answer(200, "99999999999999999999"), "admitted units=0") << "at most what the debt allows";
  EXPECT_FALSE(desk.ask("GET /").admitted);
}

TEST(SettleTest, AnAnswerIsSettledOnce) {
  Desk desk(with_limits({costing_what_the_answer_says(limit("units", {}, 100), 50)}));
  Decision& decision = *desk.keep("GET /").release();
  const std::unique_ptr<Decision> owner(&decision);
  const Answer answer{.status = 200, .field = [](std::string_view) { return std::optional<std::string_view>("20"); }};
  EXPECT_TRUE(desk.decider().settle(decision, answer, desk.call()));
  EXPECT_EQ(decision.outcomes[0].outcome.remaining, 80);
  EXPECT_FALSE(desk.decider().settle(decision, answer, desk.call()));
  EXPECT_EQ(desk.show("GET /"), "admitted units=30");
}

TEST(SettleTest, AnotherAnswerAfterAllIsSettledAnew) {
  Desk desk(with_limits({counting(limit("good", {}, 3), config::CountedAnswers::Rule::kAllBut, 500, 599)}));
  const auto decision = desk.keep("GET /");
  EXPECT_TRUE(desk.decider().settle(*decision, {.status = 503, .field = {}}, desk.call()));
  EXPECT_EQ(decision->outcomes[0].outcome.remaining, 3);
  decision->settled = false;
  EXPECT_TRUE(desk.decider().settle(*decision, {.status = 200, .field = {}}, desk.call()));
  decision->settled = false;
  EXPECT_TRUE(desk.decider().settle(*decision, {.status = 502, .field = {}}, desk.call()));
  EXPECT_EQ(decision->outcomes[0].outcome.remaining, 3);
}

TEST(SettleTest, ALimitThatIsGoneIsNotSaidToBeUsedUp) {
  Desk desk(with_limits({counting(limit("good", {}, 3), config::CountedAnswers::Rule::kAllBut, 500, 599)}));
  const auto decision = desk.keep("GET /");
  desk.load(with_limits({limit("other", {}, 3)}));
  desk.decider().settle(*decision, {.status = 503, .field = {}}, desk.call());
  EXPECT_EQ(decision->outcomes[0].outcome.remaining, 3);
}

TEST(SettleTest, WhatIsSettledTooLateStaysAsItWasReserved) {
  config::Limit units = costing_what_the_answer_says(limit("units", {}, 100), 50);
  units.rate = config::Rate{100, std::chrono::hours(24 * 30)};
  Desk desk(with_limits({units}));
  const auto decision = desk.keep("GET /");
  desk.now += Decider::kSettleWithin + 1;
  EXPECT_FALSE(desk.decider().settle(
      *decision, {.status = 200, .field = [](std::string_view) { return std::optional<std::string_view>("0"); }},
      desk.call()));
  EXPECT_EQ(desk.show("GET /"), "admitted units=0");
}

TEST(SettleTest, AWindowThatIsOverIsNotSettled) {
  config::Limit window = costing_what_the_answer_says(limit("units", {}, 100), 50);
  window.algorithm = config::Algorithm::kFixedWindow;
  Desk desk(with_limits({window}));
  const auto decision = desk.keep("GET /");
  desk.now += kMinute;
  desk.ask("GET /");
  desk.decider().settle(
      *decision, {.status = 200, .field = [](std::string_view) { return std::optional<std::string_view>("0"); }},
      desk.call());
  EXPECT_EQ(desk.show("GET /"), "admitted units=0");
}

TEST(SettleTest, ShadowLimitsAreSettledToo) {
  config::Limit shadow = counting(limit("failed", {}, 1), config::CountedAnswers::Rule::kOnly, 401, 403);
  shadow.mode = config::Mode::kShadow;
  Desk desk(with_limits({shadow}));
  for (int i = 0; i < 3; ++i) {
    desk.ask("GET /");
    EXPECT_EQ(desk.show_shadow(), " failed=0");
    desk.answer(200);
  }
  desk.ask("GET /");
  desk.answer(403);
  desk.ask("GET /");
  EXPECT_EQ(desk.show_shadow(), " failed=0!");
}

}  // namespace
}  // namespace weir::decide
