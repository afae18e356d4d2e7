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
    counter_.numbers = numbers_;
    counter_.count = {.used = 3, .remaining = 7, .full_after = std::chrono::seconds(25)};
  }
  std::optional<store::Foreseen> read() {
    AccountReport report{.key = "acme,SHOP", .exists = true, .life = {}, .groups = {}, .others = {}};
    report.groups.push_back({{"partner"}, {counter_}});  // of another kind
    report.groups.front().counters.front().count->remaining = 1;
    report.groups.push_back({{"partner", "service"}, {counter_}});
    const CounterQuestion question{
        .finding = finding_, .name = name_, .limit = bucket(10), .numbers = numbers_, .wall = kWall};
    const auto answer = read_counter(to_json(report), question);
    if (!answer) return std::nullopt;
    other_numbers_ = answer->other_numbers;
    return answer->foreseen;
  }

  const std::string name_ = "all";
  std::string numbers_ = "1/10s, burst 10";
  bool other_numbers_ = false;
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

TEST_F(GatewayCountersTest, WhatWasCountedByOtherNumbersIsAnEstimate) {
  ASSERT_TRUE(read());
  EXPECT_FALSE(other_numbers_);
  numbers_ = "2/10s, burst 10";
  ASSERT_TRUE(read());
  EXPECT_TRUE(other_numbers_);
}

// Whatever the other side says: a report with this counter, or one that is not read.
TEST_F(GatewayCountersTest, WhatMakesNoSenseIsNotRead) {
  const auto read_text = [&](const std::string& text) {
    return read_counter(text, {.finding = finding_, .name = name_, .limit = bucket(10), .wall = kWall}).has_value();
  };
  const auto with = [](const std::string& counter) {
    return R"({"groups":[{"per":["partner","service"],"limits":[)" + counter + "]}]}";
  };
  const auto asked = [&](const std::string& members) {
    return with(R"({"limit":"all","shadow":false,"used":3,"remaining":7,"full_after_ms":1,"asked":)" + members + "}");
  };
  EXPECT_TRUE(read_text(R"({"groups":[]})"));
  EXPECT_TRUE(read_text(with(R"({"limit":"all","shadow":false,"used":3,"remaining":7,"full_after_ms":1})")));
  EXPECT_TRUE(read_text(asked(R"({"cost":2,"admitted":true,"remaining":5,"full_after_ms":1,"retry_after_ms":0})")));
  for (const char* text :
       {"[]", "1", "null", "{}", R"({"groups":null})", R"({"groups":{"a":1}})", R"({"groups":[1]})",
        R"({"groups":[[]]})", R"({"groups":["x"]})", R"({"groups":[{}]})", R"({"groups":[{"per":1,"limits":[]}]})",
        R"({"groups":[{"per":[],"limits":{}}]})", R"({"groups":[{"per":["partner","service"],"limits":[null]}]})"}) {
    EXPECT_FALSE(read_text(text)) << text;
  }
  for (const char* counter :
       {R"({"limit":1})", R"({"limit":"all","shadow":"no"})", R"({"limit":"all","never_used":1})",
        R"({"limit":"all"})", R"({"limit":"all","used":-1,"remaining":11,"full_after_ms":1})",
        R"({"limit":"all","used":9223372036854775807,"remaining":9223372036854775807,"full_after_ms":1})",
        R"({"limit":"all","used":18446744073709551615,"remaining":11,"full_after_ms":1})",
        R"({"limit":"all","used":1e300,"remaining":11,"full_after_ms":1})",
        R"({"limit":"all","used":3,"remaining":7,"full_after_ms":9223372036854775807})",
        R"({"limit":"all","used":3,"remaining":7,"full_after_ms":"1"})",
        R"({"limit":"all","used":3,"remaining":7,"full_after_ms":1.5})"}) {
    EXPECT_FALSE(read_text(with(counter))) << counter;
  }
  for (const char* members :
       {"1", "[]", "{}", R"({"cost":2})", R"({"cost":2,"admitted":1,"remaining":5,"full_after_ms":1})",
        R"({"cost":2,"admitted":true,"remaining":11,"full_after_ms":1})",
        R"({"cost":2,"admitted":true,"remaining":5,"full_after_ms":1,"retry_after_ms":99999999999999999})",
        R"({"cost":2,"admitted":true,"remaining":5,"full_after_ms":1,"next_after_ms":-5})"}) {
    EXPECT_FALSE(read_text(asked(members))) << members;
  }
}

TEST_F(GatewayCountersTest, WhatIsNotSaidIsNotKnown) {
  counter_.count.reset();
  EXPECT_FALSE(read().has_value());
  EXPECT_FALSE(read_counter("no json", {.finding = finding_, .name = name_, .limit = bucket(10), .wall = kWall}));
}

}  // namespace
}  // namespace weir::explain
