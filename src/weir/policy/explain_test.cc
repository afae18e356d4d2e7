// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "weir/policy/policy.h"
#include "weir/policy/testing/scene.h"

namespace weir::policy {
namespace {

using testing::limit;
using testing::Scene;
using testing::with_limits;

class ExplainTest : public ::testing::Test {
 protected:
  Finding explain(const config::Limit& one, std::string_view start, const std::vector<std::string>& fields = {}) {
    Scene scene(with_limits({one}), store_);
    if (rows_) scene.rows = *rows_;
    return scene.explain(start, fields).at(0);
  }

  store::MemoryStore store_{{.max_accounts = 1000, .key = FingerprintKey::random()}};
  std::optional<CallerRows> rows_;
};

TEST_F(ExplainTest, AChargeIsToldWithItsAccount) {
  const Finding found = explain(limit("a", {"partner", "service"}, 5), "GET /", {"X-Partner: ac,me"});
  EXPECT_EQ(found.acts, Acts::kCharged);
  EXPECT_EQ(found.account, "ac\\,me,SAUCE");
  EXPECT_EQ(found.per, (std::vector<std::string>{"partner", "service"}));
  EXPECT_EQ(found.cost, 1);
  EXPECT_FALSE(found.shadow);
}

TEST_F(ExplainTest, ALimitOfEverybodyHasAnAccountWithoutValues) {
  EXPECT_EQ(explain(limit("a", {}, 5), "GET /").account, "\\.");
}

TEST_F(ExplainTest, AnotherServiceOrEndpointIsTheReason) {
  config::Limit shop = limit("a", {"partner"}, 5);
  shop.services = {1};
  EXPECT_EQ(explain(shop, "GET /", {"X-Partner: x"}).acts, Acts::kOtherService);
  EXPECT_EQ(explain(shop, "GET /shop", {"X-Partner: x"}).acts, Acts::kCharged);
  const config::Limit post = limit("a", {"partner"}, 5, {"POST /orders"});
  EXPECT_EQ(explain(post, "GET /orders", {"X-Partner: x"}).acts, Acts::kOtherEndpoint);
  EXPECT_EQ(explain(post, "POST /orders", {"X-Partner: x"}).acts, Acts::kCharged);
}

TEST_F(ExplainTest, AMissingAttributeIsNamedAndSaysWhatFollows) {
  config::Limit one = limit("a", {"partner", "user"}, 5);
  Finding found = explain(one, "GET /", {"X-Partner: x"});
  EXPECT_EQ(found.acts, Acts::kSkipped);
  EXPECT_EQ(found.lacking, std::vector<std::string>{"user"});
  one.missing = config::Missing::kRefuse;
  EXPECT_EQ(explain(one, "GET /", {"X-Partner: x"}).acts, Acts::kRefuses);
  one.mode = config::Mode::kShadow;
  EXPECT_EQ(explain(one, "GET /", {"X-Partner: x"}).acts, Acts::kSkipped);
  one.missing = config::Missing::kShare;
  found = explain(one, "GET /", {"X-Partner: x"});
  EXPECT_EQ(found.acts, Acts::kCharged);
  EXPECT_EQ(found.account, "x,\\-");
}

TEST_F(ExplainTest, AnAttributeThatIsThereKeepsALimitFromActing) {
  config::Limit one = limit("a", {"address"}, 5);
  one.only_if_missing = {"partner", "user"};
  const Finding found = explain(one, "GET /", {"X-User: u"});
  EXPECT_EQ(found.acts, Acts::kAttributeThere);
  EXPECT_EQ(found.hindrance, "user");
  EXPECT_EQ(explain(one, "GET /").acts, Acts::kCharged);
}

TEST_F(ExplainTest, TheEntryOfByIsToldEvenIfItLiftsTheLimit) {
  config::Limit one = limit("a", {"partner"}, 5);
  one.by = {{"plan", "gold", config::Rate{50, std::chrono::minutes(1)}, 50}, {"plan", "staff", std::nullopt, 0}};
  Finding found = explain(one, "GET /", {"X-Partner: x", "X-Plan: gold"});
  EXPECT_EQ(found.acts, Acts::kCharged);
  EXPECT_EQ(found.alternative, 0U);
  EXPECT_EQ(found.variant, 1U);
  found = explain(one, "GET /", {"X-Partner: x", "X-Plan: staff"});
  EXPECT_EQ(found.acts, Acts::kNotLimited);
  EXPECT_EQ(found.alternative, 1U);
  EXPECT_FALSE(explain(one, "GET /", {"X-Partner: x"}).alternative.has_value());
}

TEST_F(ExplainTest, TheCostAndTheFieldThatNamesIt) {
  config::Limit one = limit("a", {"partner"}, 50);
  one.cost = config::HeaderCost{.header = "X-Cost", .fallback = 2, .max = 10};
  EXPECT_EQ(explain(one, "GET /", {"X-Partner: x", "X-Cost: 7"}).cost, 7);
  const Finding found = explain(one, "GET /", {"X-Partner: x"});
  EXPECT_EQ(found.cost, 2);
  EXPECT_EQ(found.cost_field, "X-Cost");
}

TEST_F(ExplainTest, ACounterOfItsOwnIsNamed) {
  config::Limit one = limit("a", {"partner", "endpoint", "method"}, 5, {"GET /x", "* /y"});
  const Finding found = explain(one, "POST /y", {"X-Partner: x"});
  EXPECT_TRUE(found.by_endpoint);
  EXPECT_EQ(found.endpoint, "* /y");
  EXPECT_EQ(found.method, "POST");
  EXPECT_EQ(found.account, "x");
}

class ExplainRowsTest : public ExplainTest {
 protected:
  ExplainRowsTest() {
    one_.rate.reset();
    one_.from_policies = true;
    rows_.emplace();
  }
  static RowTable table(VariantIndex variant, bool shadow) {
    RowTable table;
    table.add({.limit = 0}, {.variant = variant, .shadow = shadow});
    table.sort();
    return table;
  }

  config::Limit one_ = limit("a", {"partner"}, 5);
};

TEST_F(ExplainRowsTest, WithoutAPartnerARowOrAnAnswerNothingActs) {
  EXPECT_EQ(explain(one_, "GET /").acts, Acts::kNoPartner);
  EXPECT_EQ(explain(one_, "GET /", {"X-Partner: x"}).acts, Acts::kNoRow);
  rows_->known = false;
  EXPECT_EQ(explain(one_, "GET /", {"X-Partner: x"}).acts, Acts::kRowsUnknown);
}

TEST_F(ExplainRowsTest, ThePartnersRowComesBeforeThatOfThePlan) {
  const RowTable partner = table(0, false);
  const RowTable plan = table(0, true);
  rows_->plan = &plan;
  Finding found = explain(one_, "GET /", {"X-Partner: x"});
  EXPECT_EQ(found.acts, Acts::kCharged);
  EXPECT_TRUE(found.row && found.row->of_plan && found.shadow);
  rows_->partner = &partner;
  found = explain(one_, "GET /", {"X-Partner: x"});
  EXPECT_EQ(found.acts, Acts::kCharged);
  EXPECT_TRUE(found.row && !found.row->of_plan && !found.shadow);
}

TEST_F(ExplainRowsTest, ARowMayLiftTheLimit) {
  const RowTable partner = table(kUnlimited, false);
  rows_->partner = &partner;
  const Finding found = explain(one_, "GET /", {"X-Partner: x"});
  EXPECT_EQ(found.acts, Acts::kNotLimited);
  EXPECT_TRUE(found.row && !found.row->of_plan);
}

}  // namespace
}  // namespace weir::policy
