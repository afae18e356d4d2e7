// SPDX-License-Identifier: Apache-2.0
#include "weir/limit/concurrency.h"

#include <gtest/gtest.h>

#include "weir/limit/testing/subject.h"

namespace weir::limit {
namespace {

constexpr Ticks kLease = 30;

Limit two_at_once() { return Concurrency::create({.capacity = 2, .lease = kLease, .ticks_per_second = 1}).value(); }

Call call(Ticks now, std::uint64_t id) { return {.now = now, .wall = now, .lease = {.low = id, .high = 7}}; }

TEST(ConcurrencyTest, PlacesComeBackWhenTheyAreReleasedOrNotRenewed) {
  constexpr std::uint64_t a = 1, b = 2, c = 3, d = 4, e = 5;
  const Limit limit = two_at_once();
  Subject subject(limit);
  const auto& leases = std::get<Concurrency>(limit.algorithm());
  const auto acquires = [&](Ticks now, std::uint64_t id, Cost remaining) {
    const Outcome outcome = subject.step(call(now, id), 1);
    EXPECT_EQ(outcome.remaining, remaining);
    return outcome.admitted;
  };
  const auto releases = [&](Ticks now, std::uint64_t id, Cost remaining) {
    const bool known = leases.end(subject.words(), call(now, id));
    EXPECT_EQ(subject.peek(call(now, 0)).remaining, remaining);
    return known;
  };
  EXPECT_TRUE(acquires(0, a, 1));
  EXPECT_TRUE(acquires(0, b, 0));
  EXPECT_FALSE(acquires(0, c, 0));
  EXPECT_TRUE(releases(10, a, 1));
  EXPECT_TRUE(acquires(10, c, 0));
  EXPECT_FALSE(releases(10, a, 0)) << "no longer there";
  EXPECT_TRUE(acquires(30, d, 0)) << "the lease of b has ended";
  EXPECT_FALSE(releases(30, b, 0)) << "it must not free the place of a stranger";
  EXPECT_TRUE(subject.renew(call(35, c)));
  EXPECT_EQ(subject.peek(call(35, 0)).remaining, 0);
  EXPECT_FALSE(acquires(41, e, 0)) << "the lease of c goes on";
}

TEST(ConcurrencyTest, ARefusalHintsAtOneSecondAndPromisesNothing) {
  Subject subject(two_at_once());
  subject.step(call(0, 1), 2);
  const Outcome refused = subject.step(call(0, 2), 1);
  EXPECT_EQ(refused.retry_after, 1);
  EXPECT_EQ(refused.next_after, std::nullopt);
  EXPECT_EQ(refused.reset_after, kLease);
}

TEST(ConcurrencyTest, ACostAboveTheCapacityNeverPasses) {
  Subject subject(two_at_once());
  EXPECT_EQ(subject.step(call(0, 1), 3).retry_after, std::nullopt);
  EXPECT_TRUE(subject.is_initial(call(0, 1)));
}

TEST(ConcurrencyTest, TheSameNameIsOneLease) {
  Subject subject(two_at_once());
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(subject.step(call(i, 1), 1).admitted);
  EXPECT_EQ(subject.peek(call(5, 0)).remaining, 1);
  subject.give_back(call(5, 1), 1, 0);
  EXPECT_TRUE(subject.is_initial(call(5, 0)));
}

TEST(ConcurrencyTest, AfterAClockThatWasFarAheadNoLeaseLastsLongerThanANewOne) {
  Subject subject(two_at_once());
  subject.step(call(100'000, 1), 1);
  subject.step(call(0, 2), 1);
  EXPECT_EQ(subject.peek(call(0, 0)).reset_after, kLease);
  EXPECT_TRUE(subject.is_initial(call(kLease, 0)));
}

TEST(ConcurrencyTest, MemoryIsGivenBackWithTheLastLease) {
  Subject subject(two_at_once());
  EXPECT_EQ(subject.owned_bytes(), 0u);
  subject.step(call(0, 1), 1);
  EXPECT_GT(subject.owned_bytes(), 0u);
  subject.give_back(call(0, 1), 1, 0);
  EXPECT_EQ(subject.owned_bytes(), 0u);
}

}  // namespace
}  // namespace weir::limit
