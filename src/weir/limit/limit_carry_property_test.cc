// SPDX-License-Identifier: Apache-2.0
//
// What holds when a limit gets other numbers while it is used: what was used goes on to count, nobody waits longer
// than the new numbers imply, and nobody gets a fresh burst.
#include <gtest/gtest.h>

#include <algorithm>

#include "weir/limit/testing/random_trace.h"
#include "weir/limit/testing/subject.h"

namespace weir::limit {
namespace {

struct Carry : LimitProperty {};

INSTANTIATE_TEST_SUITE_P(Every, Carry, every_kind(), name_of_param);

// Now and then the limit was used beyond what it admits.
void use(Subject& subject, RandomTrace& trace, Outcome& last) {
  const Cost cost = trace.cost(last);
  last = subject.step(trace.call(), cost);
  const bool can_owe = !subject.limit().holds<LeakyBucket>() && !subject.limit().holds<Concurrency>();
  if (can_owe && last.admitted && cost > 0 && one_in(trace.random(), 5)) {
    subject.take(trace.call(), trace.cost(last), last.at);
    last = subject.peek(trace.call());
  }
}

template <class Check>
auto after_each_use(Check check) {
  return [check](const Limit& limit, RandomTrace& trace) {
    Subject subject(limit);
    Outcome last;
    for (std::int64_t i = 0; i < kStepsPerTrace && !testing::Test::HasFatalFailure(); ++i, trace.advance(last)) {
      use(subject, trace, last);
      check(subject, trace);
    }
  };
}

TEST_P(Carry, EqualNumbersChangeNothing) {
  for_each_trace(after_each_use([](const Subject& subject, RandomTrace& trace) {
    ASSERT_TRUE(subject.carried_to(subject.limit(), trace.call()).same_bytes(subject));
  }));
}

// A log drops with a shorter window what no longer counts.
bool shortens_a_log(const Limit& from, const Limit& to) {
  if (!from.holds<SlidingLog>()) return false;
  return std::get<SlidingLog>(to.algorithm()).numbers().window <
         std::get<SlidingLog>(from.algorithm()).numbers().window;
}

TEST_P(Carry, OtherNumbersHandOutNoBurst) {
  for_each_trace(after_each_use([](const Subject& subject, RandomTrace& trace) {
    const Limit other = random_limit(GetParam(), trace.random(), trace.second());
    if (shortens_a_log(subject.limit(), other)) return;
    const Outcome before = subject.peek(trace.call());
    const Outcome after = subject.carried_to(other, trace.call()).peek(trace.call());
    const Cost raised = std::max<Cost>(0, other.capacity() - subject.limit().capacity());
    ASSERT_LE(after.remaining, before.remaining + raised);
    ASSERT_GE(after.remaining, 0);
  }));
}

// How long it takes until a limit is as good as new that has just admitted all it can. (A line admits one by one.)
Ticks reset_of_a_full(const Limit& limit, const Call& call) {
  if (const auto* line = std::get_if<LeakyBucket>(&limit.algorithm())) {
    const auto& [count, period, queue, undelayed, second] = line->numbers();
    return static_cast<Ticks>((static_cast<__int128>(queue + 1) * period + count - 1) / count);
  }
  return Subject(limit).step(call, limit.capacity()).reset_after;
}

TEST_P(Carry, OtherNumbersLetNobodyWaitLongerThanTheyImply) {
  for_each_trace(after_each_use([](const Subject& subject, RandomTrace& trace) {
    const Limit other = random_limit(GetParam(), trace.random(), trace.second());
    if (other.capacity() == 0) return;     // nothing will ever pass
    if (other == subject.limit()) return;  // even a debt stays
    const Ticks filled = reset_of_a_full(other, trace.call());
    const Outcome before = subject.peek(trace.call());
    const Outcome after = subject.carried_to(other, trace.call()).peek(trace.call());
    const Ticks most = other.holds<Concurrency>() ? std::max(before.reset_after, filled) : filled;
    ASSERT_LE(after.reset_after, most);
  }));
}

TEST_P(Carry, TheUsedAmountGoesOnToCountWhenTheCapacityGrows) {
  for_each_trace(after_each_use([](const Subject& subject, RandomTrace& trace) {
    const Limit other = random_limit(GetParam(), trace.random(), trace.second());
    const bool grows = other.capacity() >= subject.limit().capacity();
    const Outcome before = subject.peek(trace.call());
    if (!grows || !before.admitted || shortens_a_log(subject.limit(), other)) return;
    const Cost used = subject.limit().capacity() - before.remaining;
    const Outcome after = subject.carried_to(other, trace.call()).peek(trace.call());
    ASSERT_GE(other.capacity() - after.remaining, used);
    // A longer log may still have entries that had ended.
    ASSERT_TRUE(GetParam() == Kind::kSlidingLog || other.capacity() - after.remaining == used);
  }));
}

TEST_P(Carry, WhatIsTakenAfterwardsShortensNoWait) {
  if (GetParam() == Kind::kConcurrency || GetParam() == Kind::kLeakyBucket) return;  // they cannot owe
  for_each_trace(after_each_use([](const Subject& subject, RandomTrace& trace) {
    const Limit other = random_limit(GetParam(), trace.random(), trace.second());
    const Subject carried = subject.carried_to(other, trace.call());
    Subject owing(carried);
    owing.take(trace.call(), spread(trace.random(), 1000), owing.peek(trace.call()).at);
    ASSERT_LE(owing.peek(trace.call()).remaining, carried.peek(trace.call()).remaining);
    ASSERT_GE(owing.peek(trace.call()).reset_after, carried.peek(trace.call()).reset_after);
    ASSERT_GE(owing.step(trace.call(), 1).retry_after.value_or(0),
              Subject(carried).step(trace.call(), 1).retry_after.value_or(0));
  }));
}

TEST_P(Carry, AnotherAlgorithmStartsAfresh) {
  for_each_trace(after_each_use([](const Subject& subject, RandomTrace& trace) {
    const auto next = static_cast<Kind>((static_cast<int>(GetParam()) + 1) % 7);
    const Limit other = random_limit(next, trace.random(), trace.second());
    const Subject carried = subject.carried_to(other, trace.call());
    ASSERT_TRUE(carried.same_bytes(Subject(other)));
  }));
}

}  // namespace
}  // namespace weir::limit
