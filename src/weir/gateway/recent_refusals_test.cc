// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/recent_refusals.h"

#include <gtest/gtest.h>

namespace weir::gateway {
namespace {

using std::chrono::seconds;

constexpr WallTime kStart{std::chrono::hours(1)};

RecentRefusals::Refusal refusal(std::uint64_t who, WallTime at, bool shadow = false) {
  return {.who = {.low = who, .high = 7}, .shadow = shadow, .at = at, .until = at + seconds(5)};
}

// Whether it had to be named.
bool refuse(RecentRefusals& refusals, const RecentRefusals::Refusal& refusal, const std::string& account) {
  const bool known = refusals.note(refusal);
  if (!known) refusals.add(refusal, {.limit = "partner", .account = account});
  return !known;
}

std::vector<RefusedAccount> all_of(const RecentRefusals& refusals, WallTime since = {}) {
  std::vector<RefusedAccount> all;
  refusals.add_to(all, since);
  return all;
}

TEST(RecentRefusalsTest, AnAccountIsNamedOnceAndCountedEachTime) {
  RecentRefusals refusals;
  int named = 0;
  for (int i = 0; i < 3; ++i) {
    if (refuse(refusals, refusal(1, kStart + seconds(i)), "acme")) ++named;
  }
  const auto all = all_of(refusals);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(named, 1);
  EXPECT_EQ(all[0].account, "acme");
  EXPECT_EQ(all[0].refused, 3U);
  EXPECT_EQ(all[0].first, kStart);
  EXPECT_EQ(all[0].last, kStart + seconds(2));
  EXPECT_EQ(all[0].until, kStart + seconds(7));
}

TEST(RecentRefusalsTest, WhoeverWasRefusedBeforeIsNotTold) {
  RecentRefusals refusals;
  refuse(refusals, refusal(1, kStart), "early");
  refuse(refusals, refusal(2, kStart + seconds(60)), "late");
  const auto all = all_of(refusals, kStart + seconds(1));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].account, "late");
}

TEST(RecentRefusalsTest, AShadowAndAnEnforcedLimitAreTwo) {
  RecentRefusals refusals;
  refuse(refusals, refusal(1, kStart), "acme");
  refuse(refusals, refusal(1, kStart, true), "acme");
  EXPECT_EQ(all_of(refusals).size(), 2U);
}

TEST(RecentRefusalsTest, MemoryIsBoundedAndTheOldestGivesWay) {
  RecentRefusals refusals;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    refuse(refusals, refusal(i, kStart + nanoseconds(i)), std::to_string(i));
  }
  const auto all = all_of(refusals);
  EXPECT_EQ(all.size(), 8192U);
  for (const RefusedAccount& one : all) EXPECT_GE(one.last, kStart + nanoseconds(100'000 - 8192));
}

TEST(RecentRefusalsTest, WhatSeveralWorkersRefusedIsAddedUpAndTheLastComesFirst) {
  RecentRefusals one, other;
  refuse(one, refusal(1, kStart + seconds(3)), "acme");
  refuse(other, refusal(1, kStart), "acme");
  refuse(other, refusal(2, kStart + seconds(9)), "zeta");
  std::vector<RefusedAccount> all;
  one.add_to(all, {});
  other.add_to(all, {});
  const auto sums = merged(all);
  ASSERT_EQ(sums.size(), 2U);
  EXPECT_EQ(sums[0].account, "zeta");
  EXPECT_EQ(sums[1].refused, 2U);
  EXPECT_EQ(sums[1].first, kStart);
  EXPECT_EQ(sums[1].last, kStart + seconds(3));
  EXPECT_EQ(sums[1].until, kStart + seconds(8));
}

}  // namespace
}  // namespace weir::gateway
