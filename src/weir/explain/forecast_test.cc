// SPDX-License-Identifier: Apache-2.0
#include "weir/explain/forecast.h"

#include <gtest/gtest.h>

#include "weir/policy/testing/scene.h"

namespace weir::explain {
namespace {

using policy::testing::limit;
using policy::testing::Scene;
using policy::testing::with_limits;

store::Foreseen admits(limit::Cost remaining) {
  return {.seen = {.admitted = true, .remaining = remaining + 1, .retry_after = 0, .next_after = {}},
          .asked = {.admitted = true, .remaining = remaining, .retry_after = 0, .next_after = {}}};
}
store::Foreseen refuses(limit::Ticks wait) {
  return {.seen = {.admitted = true, .remaining = 0, .retry_after = 0, .next_after = {}},
          .asked = {.admitted = false, .remaining = 0, .retry_after = wait, .next_after = {}}};
}

class ForecastTest : public ::testing::Test {
 protected:
  // Two accounts, narrow and wide, and one that only watches.
  ForecastTest() {
    config::Limit shadow = limit("seen", {"partner"}, 5);
    shadow.mode = config::Mode::kShadow;
    scene_.emplace(with_limits({limit("wide", {"partner"}, 5), limit("narrow", {"partner", "user"}, 5),
                                limit("also", {"partner", "user"}, 5), shadow}),
                   store_);
    charges_ = &scene_->charge("GET /", {"X-Partner: p", "X-User: u"});
  }
  std::string name(const decide::LimitOutcome& outcome) const { return std::string(scene_->name(outcome.limit)); }

  store::MemoryStore store_{{.max_accounts = 1000, .key = FingerprintKey::random()}};
  std::optional<Scene> scene_;
  const policy::Charges* charges_ = nullptr;
};

TEST_F(ForecastTest, AllAdmitAndTheTightestBinds) {
  const decide::Decision found = forecast(*charges_, {{admits(3), admits(9)}, {admits(2)}, {refuses(1)}}, 0);
  EXPECT_TRUE(found.admitted);
  ASSERT_EQ(found.outcomes.size(), 3U);
  EXPECT_EQ(name(found.outcomes[0]), "wide");
  EXPECT_EQ(found.outcomes[0].outcome.remaining, 2);
  ASSERT_EQ(found.shadow.size(), 1U);
  EXPECT_FALSE(found.shadow[0].outcome.admitted);
}

TEST_F(ForecastTest, TheFirstAccountThatRefusesIsAllThatIsTold) {
  const decide::Decision found = forecast(*charges_, {{admits(3), refuses(7)}, {refuses(99)}, {admits(1)}}, 0);
  EXPECT_FALSE(found.admitted);
  ASSERT_EQ(found.outcomes.size(), 2U);
  EXPECT_EQ(name(found.outcomes[0]), "also");
  EXPECT_EQ(found.outcomes[1].outcome.remaining, 4) << "nothing was taken of it";
  EXPECT_TRUE(found.shadow.empty());
  EXPECT_EQ(found.retry_after(), 7);
}

TEST_F(ForecastTest, AccountsThatWereNeverUsedAreFull) {
  const auto findings = scene_->explain("GET /", {"X-Partner: p", "X-User: u"});
  const auto questions = questions_of(*charges_, findings, scene_->policy().limits());
  const auto told = all_fresh(questions, 1'796'000'123'000'000'000);
  ASSERT_EQ(told.size(), 3U);
  EXPECT_EQ(told[0][0].seen.remaining, 5);
  EXPECT_EQ(told[0][0].asked.remaining, 4);
  EXPECT_EQ(questions[0].findings[0]->account, "p,u");
}

}  // namespace
}  // namespace weir::explain
