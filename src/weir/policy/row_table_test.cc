// SPDX-License-Identifier: Apache-2.0
#include "weir/policy/row_table.h"

#include <gtest/gtest.h>

#include "weir/policy/row_numbers.h"
#include "weir/policy/testing/scene.h"

namespace weir::policy {
namespace {

using testing::limit;

constexpr std::uint32_t kEvery = RowTable::kEvery;

config::Limit from_policies(config::Algorithm algorithm = config::Algorithm::kTokenBucket) {
  config::Limit made = limit("rows", {"partner", "service"}, 0);
  made.rate.reset();
  made.from_policies = true;
  made.algorithm = algorithm;
  return made;
}

config::Limit with(config::Limit made, std::int64_t count, std::int64_t burst) {
  made.rate = config::Rate{count, std::chrono::minutes(1)};
  made.burst = burst;
  return made;
}

TEST(RowTableTest, TheMostExactRowHolds) {
  RowTable table;
  table.add({.limit = 1, .service = 4, .endpoint = 7}, {.variant = 1});
  table.add({.limit = 1, .service = 4, .endpoint = kEvery}, {.variant = 2});
  table.add({.limit = 1, .service = kEvery, .endpoint = 7}, {.variant = 3});
  table.add({.limit = 1, .service = kEvery, .endpoint = kEvery}, {.variant = 4});
  table.sort();
  const auto variant = [&](RowTable::Scope scope) { return table.find(scope)->variant; };
  EXPECT_EQ(variant({1, 4, 7}), 1U);
  EXPECT_EQ(variant({1, 4, 8}), 2U);
  EXPECT_EQ(variant({1, 5, 7}), 3U);
  EXPECT_EQ(variant({1, 5, 8}), 4U);
  EXPECT_EQ(variant({1, kEvery, kEvery}), 4U);
  EXPECT_FALSE(table.find({2, 4, 7}));
  EXPECT_FALSE(table.find({0, 4, 7}));
}

TEST(RowTableTest, OfTheSameScopeTwiceTheFirstStays) {
  RowTable table;
  table.add({.limit = 1}, {.variant = 1});
  table.add({.limit = 1}, {.variant = 2});
  table.sort();
  EXPECT_EQ(table.find({.limit = 1})->variant, 1U);
}

TEST(RowTableTest, APartnersRowsComeBeforeThoseOfItsPlan) {
  RowTable own;
  RowTable plan;
  own.add({.limit = 1}, {.variant = 1});
  plan.add({.limit = 1, .service = 4}, {.variant = 2});
  plan.add({.limit = 2}, {.variant = 3, .shadow = true});
  own.sort();
  plan.sort();
  const CallerRows rows{.partner = &own, .plan = &plan};
  EXPECT_EQ(rows.find({1, 4, kEvery})->variant, 1U);
  EXPECT_TRUE(rows.find({2, 4, kEvery})->shadow);
  EXPECT_FALSE(rows.find({3, 4, kEvery}));
  EXPECT_FALSE(CallerRows{}.find({1, 4, kEvery}));
}

TEST(RowNumbersTest, TheSameNumbersAreTheSameVariant) {
  RowNumbers numbers(from_policies(), 0);
  const auto twenty = numbers.add(with(from_policies(), 20, 20));
  EXPECT_EQ(numbers.add(with(from_policies(), 20, 20)), twenty);
  const auto burst = numbers.add(with(from_policies(), 20, 30));
  EXPECT_NE(burst, twenty);
  EXPECT_EQ(numbers.limit(*burst).capacity(), 30);
  EXPECT_EQ(numbers.rate(*burst), (config::Rate{20, std::chrono::minutes(1)}));
  EXPECT_EQ(&numbers.in_memory(), &numbers.shared());
}

TEST(RowNumbersTest, AGatewayCountsItsShareWhileTheStoreIsAway) {
  RowNumbers numbers(from_policies(), 4);
  const auto variant = numbers.add(with(from_policies(), 20, 20));
  EXPECT_EQ(numbers.shared()[*variant].capacity(), 20);
  EXPECT_EQ(numbers.in_memory()[*variant].capacity(), 5);
}

TEST(RowNumbersTest, ARowMayChooseAmongAlgorithmsThatRecordsCanHold) {
  RowNumbers bucket(from_policies(), 0);
  EXPECT_TRUE(bucket.add(with(from_policies(config::Algorithm::kFixedWindow), 5, 5)));
  EXPECT_TRUE(bucket.add(with(from_policies(config::Algorithm::kSlidingWindow), 5, 5)));
  EXPECT_FALSE(bucket.add(with(from_policies(config::Algorithm::kSlidingLog), 5, 5)));
  EXPECT_FALSE(bucket.add(with(from_policies(config::Algorithm::kConcurrency), 5, 5)));
  RowNumbers log(from_policies(config::Algorithm::kSlidingLog), 0);
  EXPECT_TRUE(log.add(with(from_policies(config::Algorithm::kSlidingLog), 5, 5)));
  EXPECT_FALSE(log.add(with(from_policies(), 5, 5)));
}

TEST(RowNumbersTest, NumbersThatCannotBeCountedAreNone) {
  RowNumbers numbers(from_policies(), 0);
  EXPECT_FALSE(numbers.add(from_policies()));
  config::Limit month = with(from_policies(), 5, 5);
  month.rate = config::Rate{5, {}, config::CivilUnit::kMonth};
  EXPECT_FALSE(numbers.add(month));
}

TEST(RowNumbersTest, AReloadKeepsTheNumbersUnlessTheLimitCountsInAnotherWay) {
  RowNumbersShelf shelf;
  const auto before = shelf.of(from_policies(), 0);
  EXPECT_EQ(shelf.of(from_policies(), 0), before);
  EXPECT_NE(shelf.of(from_policies(), 2), before);
  EXPECT_NE(shelf.of(from_policies(config::Algorithm::kSlidingLog), 0), before);
  config::Limit other = from_policies();
  other.name = "other";
  EXPECT_NE(shelf.of(other, 0), before);
  EXPECT_EQ(shelf.of(from_policies(), 0), before);
}

}  // namespace
}  // namespace weir::policy
