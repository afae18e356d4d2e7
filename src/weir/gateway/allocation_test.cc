// SPDX-License-Identifier: Apache-2.0
//
// A refusal is written into memory that is already there.
#include <gtest/gtest.h>

#include "weir/base/testing/count_allocations.h"
#include "weir/gateway/problem.h"

namespace weir::gateway {
namespace {

using weir::testing::allocations;

TEST(AllocationTest, ARefusalAllocatesNothing) {
  policy::LimitInfo limit{
      .name = "a-limit-with-a-name-that-is-long",
      .variants = {*limit::TokenBucket::create({.count = 20, .period = 1'000'000'000, .capacity = 20})},
      .variant_rates = {config::Rate{20, std::chrono::seconds(1)}}};
  const RateLimitFields fields({}, {limit});
  decide::Decision decision;
  decision.admitted = false;
  decision.outcomes = {
      {.outcome = {
           .admitted = false, .remaining = 0, .retry_after = 1'500'000'000, .reset_after = 1, .next_after = 1}}};
  Text out;
  const auto refuse = [&] {
    return write_refusal(out, decision, fields, "Try again in {retry_after} s.",
                         {.date = "Mon, 30 Nov 2026 00:00:30 GMT", .wall = {}, .request_id = "an-id"});
  };
  ASSERT_GT(refuse(), 0U);  // now everything has its size
  const std::size_t before = allocations;
  ASSERT_GT(refuse(), 0U);
  EXPECT_EQ(allocations - before, 0U);
}

}  // namespace
}  // namespace weir::gateway
