// SPDX-License-Identifier: Apache-2.0
//
// Reports as accounts/ writes them are read as they were meant.
#include "weir/explain/gateway_counters.h"

#include <gtest/gtest.h>

#include "weir/accounts/account_report.h"

namespace weir::explain {
namespace {

using accounts::AccountReport;
using accounts::ReportedCounter;

constexpr limit::Ticks kSecond = 1'000'000'000;
constexpr limit::Ticks kWall = 1'796'000'123 * kSecond;

limit::Limit bucket(limit::Cost capacity) {
  return *limit::TokenBucket::create({.count = 1, .period = 10 * kSecond, .capacity = capacity});
}

class GatewayCountersTest : public ::testing::Test {
 protected:
  GatewayCountersTest() {
    finding_.per = {"partner", "service"};
    finding_.cost = 2;
    counter_.name = "all";
    counter_.count = {.used = 3, .remaining = 7, .full_after = std::chrono::seconds(25)};
  }
  std::optional<store::Foreseen> read() {
    AccountReport report{.key = "acme,SHOP", .exists = true, .life = {}, .groups = {}, .others = {}};
    report.groups.push_back({{"partner"}, {counter_}});  // of another kind
    report.groups.front().counters.front().count->remaining = 1;
    report.groups.push_back({{"partner", "service"}, {counter_}});
    return read_counter(to_json(report), {.finding = finding_, .name = name_, .limit = bucket(10), .wall = kWall});
  }

  const std::string name_ = "all";
  policy::Finding finding_;
  ReportedCounter counter_;
};

TEST_F(GatewayCountersTest, WithoutAnAnswerToTheCostWhatRemainsDecides) {
  auto read_back = read();
  ASSERT_TRUE(read_back);
  EXPECT_EQ(read_back->seen.remaining, 7);
  EXPECT_TRUE(read_back->asked.admitted);
  EXPECT_EQ(read_back->asked.remaining, 5);
  EXPECT_EQ(read_back->asked.reset_after, 45 * kSecond);
  finding_.cost = 8;
  read_back = read();
  ASSERT_TRUE(read_back);
  EXPECT_FALSE(read_back->asked.admitted);
  finding_.cost = 11;
  EXPECT_FALSE(read()->asked.retry_after.has_value());
}

TEST_F(GatewayCountersTest, WhatTheGatewaySaysOfTheCostCounts) {
  counter_.asked = {2,
                    {.admitted = false,
                     .remaining = 1,
                     .retry_after = 4 * kSecond,
                     .reset_after = 9 * kSecond,
                     .next_after = 3 * kSecond}};
  const auto read_back = read();
  ASSERT_TRUE(read_back);
  EXPECT_FALSE(read_back->asked.admitted);
  EXPECT_EQ(read_back->asked.retry_after, 4 * kSecond);
  EXPECT_EQ(read_back->asked.next_after, 3 * kSecond);
  EXPECT_EQ(read_back->asked.reset_after, 9 * kSecond);
}

TEST_F(GatewayCountersTest, ACounterThatWasNeverUsedIsFull) {
  counter_.never_used = true;
  counter_.count.reset();
  const auto read_back = read();
  ASSERT_TRUE(read_back);
  EXPECT_EQ(read_back->seen.remaining, 10);
  EXPECT_EQ(read_back->asked.remaining, 8);
}

TEST_F(GatewayCountersTest, AnotherEndpointOrModeIsAnotherCounter) {
  finding_.shadow = true;
  EXPECT_EQ(read()->seen.remaining, 10);
  finding_.shadow = false;
  finding_.by_endpoint = true;
  EXPECT_EQ(read()->seen.remaining, 10);
  counter_.by_endpoint = true;
  EXPECT_EQ(read()->seen.remaining, 7);
  finding_.endpoint = "GET /a";
  EXPECT_EQ(read()->seen.remaining, 10);
}

TEST_F(GatewayCountersTest, WhatIsUsedIsCarriedToOtherNumbers) {
  counter_.count->remaining = 97;
  const auto read_back = read();
  ASSERT_TRUE(read_back);
  EXPECT_EQ(read_back->seen.remaining, 7);
}

TEST_F(GatewayCountersTest, WhatIsNotSaidIsNotKnown) {
  counter_.count.reset();
  EXPECT_FALSE(read().has_value());
  EXPECT_FALSE(read_counter("no json", {.finding = finding_, .name = name_, .limit = bucket(10), .wall = kWall}));
}

}  // namespace
}  // namespace weir::explain
