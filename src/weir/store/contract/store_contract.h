// SPDX-License-Identifier: Apache-2.0
//
// What every store promises, as a GoogleTest suite of a type. The type says how its store is used:
//
//   struct UnderTest {
//     using Kind = ...;                                     // what adopt returns
//     static bool keeps(limit::Ticks ticks_per_second);     // can it keep limits in such ticks?
//     static constexpr limit::Ticks kWallAhead;             // of limit::Call::now; 0 where there is one clock
//     Kind adopt(const Layout& layout);
//     bool acquire(const Kind&, std::string_view subject, std::span<const Charge>, const limit::Call&,
//                  std::span<limit::Outcome>);
//     void adjust(const Kind&, std::string_view subject, std::span<const Adjustment>, const limit::Call&,
//                 std::span<limit::Outcome>);
//     bool renew(const Kind&, std::string_view subject, std::span<const Charge>, const limit::Call&);
//     void reset(const Kind&, std::string_view subject);
//   };
//   INSTANTIATE_TYPED_TEST_SUITE_P(Memory, StoreContract, UnderTest);
//
// Time is passed in; a new UnderTest is an empty store. This file has the tests of one algorithm, and what all share;
// what several algorithms do together is in mixed_contract.h.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "weir/limit/golden_traces.h"
#include "weir/limit/limit.h"
#include "weir/store/account.h"

namespace weir::store::contract {

using limit::Cost;
using limit::Outcome;
using limit::Ticks;

constexpr Ticks kSecond = 1'000'000;  // ticks: microseconds, which every store keeps

inline limit::Limit per_second(std::int64_t count, Cost capacity) {
  return limit::TokenBucket::create(
             {.count = count, .period = kSecond, .capacity = capacity, .ticks_per_second = kSecond})
      .value();
}

inline Layout layout_of(std::initializer_list<Slot> slots) { return {.kind = "kind", .slots = slots}; }
inline Slot slot_of(std::string identity, std::initializer_list<limit::Limit> variants) {
  return {.identity = std::move(identity), .variants = variants};
}

struct Answer {
  bool admitted = false;
  std::vector<Outcome> outcomes;
  bool operator==(const Answer&) const = default;
};

template <class UnderTest>
class StoreContract : public ::testing::Test {
 protected:
  using Kind = typename UnderTest::Kind;

  Answer acquire(const Kind& kind, std::string_view subject, const std::vector<Charge>& charges, Ticks now = 0) {
    return acquire(kind, subject, charges, limit::Call::at(now));
  }
  Answer acquire(const Kind& kind, std::string_view subject, const std::vector<Charge>& charges,
                 const limit::Call& call) {
    Answer answer{.outcomes = std::vector<Outcome>(charges.size())};
    answer.admitted = store.acquire(kind, subject, charges, call, answer.outcomes);
    return answer;
  }
  std::vector<Outcome> adjust(const Kind& kind, std::string_view subject, const std::vector<Adjustment>& adjustments,
                              Ticks now = 0) {
    std::vector<Outcome> after(adjustments.size());
    store.adjust(kind, subject, adjustments, limit::Call::at(now), after);
    return after;
  }
  Cost remaining(const Kind& kind, std::string_view subject, std::uint16_t slot, Ticks now = 0) {
    return acquire(kind, subject, {{.slot = slot, .cost = 0}}, now).outcomes[0].remaining;
  }
  // Asks, in one call, what remains in slots 0 to count-1.
  std::vector<Cost> all_remaining(const Kind& kind, std::string_view subject, std::uint16_t count, Ticks now = 0) {
    std::vector<Cost> result;
    for (std::uint16_t slot = 0; slot < count; ++slot) result.push_back(remaining(kind, subject, slot, now));
    return result;
  }

  UnderTest store;
};

TYPED_TEST_SUITE_P(StoreContract);

TYPED_TEST_P(StoreContract, GivesTheExactValuesOfTheGoldenTraces) {
  int number = 0;
  for (const limit::golden::Trace& trace : limit::golden::traces()) {
    if (!TypeParam::keeps(trace.second) || !trace.seed.empty()) continue;
    const Slot slot{.identity = "limit", .variants = {trace.limit}};
    const auto kind = this->store.adopt({.kind = "trace " + std::to_string(number++), .slots = {slot}});
    for (std::size_t i = 0; i < trace.steps.size(); ++i) {
      SCOPED_TRACE(std::string(trace.name) + ", step " + std::to_string(i));
      const limit::golden::Step& step = trace.steps[i];
      const auto [admitted, outcomes] = this->acquire(kind, "subject", {{.cost = step.cost}}, step.now);
      EXPECT_EQ(admitted, step.admitted);
      EXPECT_EQ(outcomes[0].admitted, step.admitted);
      EXPECT_EQ(outcomes[0].remaining, step.remaining);
      EXPECT_EQ(outcomes[0].retry_after, limit::golden::retry_after(step));
      EXPECT_EQ(outcomes[0].reset_after, step.reset_after);
    }
  }
  EXPECT_GT(number, 0);
}

TYPED_TEST_P(StoreContract, TakesFromAllLimitsOrFromNone) {
  const auto kind =
      this->store.adopt(layout_of({slot_of("a", {per_second(1, 1)}), slot_of("b", {per_second(1, 1)})}));
  EXPECT_TRUE(this->acquire(kind, "subject", {{.slot = 1}}).admitted);
  for (const std::vector<Charge>& charges :
       {std::vector<Charge>{{.slot = 0}, {.slot = 1}}, std::vector<Charge>{{.slot = 1}, {.slot = 0}}}) {
    const Answer refused = this->acquire(kind, "subject", charges);
    EXPECT_FALSE(refused.admitted);
    const std::size_t of_a = charges[0].slot == 0 ? 0 : 1;
    EXPECT_TRUE(refused.outcomes[of_a].admitted);
    EXPECT_EQ(refused.outcomes[of_a].remaining, 1) << "shows its unchanged state";
    EXPECT_EQ(refused.outcomes[of_a].reset_after, 0);
    EXPECT_FALSE(refused.outcomes[1 - of_a].admitted);
    EXPECT_EQ(refused.outcomes[1 - of_a].retry_after, kSecond);
  }
  EXPECT_TRUE(this->acquire(kind, "subject", {{.slot = 0}}).admitted);
}

TYPED_TEST_P(StoreContract, ARefusedCallOnASubjectThatWasNeverSeenTakesNothing) {
  const auto kind =
      this->store.adopt(layout_of({slot_of("a", {per_second(5, 5)}), slot_of("b", {per_second(1, 1)})}));
  const Answer refused = this->acquire(kind, "subject", {{.slot = 0, .cost = 2}, {.slot = 1, .cost = 2}});
  EXPECT_FALSE(refused.admitted);
  EXPECT_EQ(refused.outcomes[0].remaining, 5);
  EXPECT_EQ(refused.outcomes[1].retry_after, std::nullopt);
  EXPECT_EQ(this->all_remaining(kind, "subject", 2), (std::vector<Cost>{5, 1}));
}

TYPED_TEST_P(StoreContract, EveryLimitHasItsOwnCost) {
  const auto kind = this->store.adopt(
      layout_of({slot_of("calls", {per_second(10, 10)}), slot_of("bytes", {per_second(100, 1000)})}));
  const std::vector<Charge> charges{{.slot = 0, .cost = 1}, {.slot = 1, .cost = 700}};
  EXPECT_TRUE(this->acquire(kind, "subject", charges).admitted);
  const Answer refused = this->acquire(kind, "subject", charges);
  EXPECT_FALSE(refused.admitted);
  EXPECT_EQ(refused.outcomes[0].remaining, 9);
  EXPECT_EQ(refused.outcomes[1].remaining, 300);
  EXPECT_EQ(refused.outcomes[1].retry_after, 4 * kSecond);
  EXPECT_FALSE(this->acquire(kind, "subject", charges, 4 * kSecond - 1).admitted);
  EXPECT_TRUE(this->acquire(kind, "subject", charges, 4 * kSecond).admitted);
}

TYPED_TEST_P(StoreContract, APeekChangesNothingWhereverItStands) {
  const auto kind =
      this->store.adopt(layout_of({slot_of("a", {per_second(5, 5)}), slot_of("b", {per_second(5, 5)})}));
  EXPECT_EQ(this->remaining(kind, "subject", 0), 5);
  const Answer mixed = this->acquire(kind, "subject", {{.slot = 0, .cost = 0}, {.slot = 1, .cost = 2}});
  EXPECT_TRUE(mixed.admitted);
  EXPECT_EQ(mixed.outcomes[0].remaining, 5);
  EXPECT_EQ(mixed.outcomes[1].remaining, 3);
  EXPECT_EQ(this->all_remaining(kind, "subject", 2), (std::vector<Cost>{5, 3}));
}

TYPED_TEST_P(StoreContract, SubjectsAndKindsAreCountedApart) {
  Layout layout = layout_of({slot_of("a", {per_second(5, 5)})});
  const auto kind = this->store.adopt(layout);
  layout.kind = "another";
  const auto other = this->store.adopt(layout);
  EXPECT_TRUE(this->acquire(kind, "subject", {{.cost = 5}}).admitted);
  EXPECT_EQ(this->remaining(kind, "subject", 0), 0);
  EXPECT_EQ(this->remaining(kind, "subject2", 0), 5);
  EXPECT_EQ(this->remaining(other, "subject", 0), 5);
}

TYPED_TEST_P(StoreContract, WhatIsGivenBackIsThereAgainButNeverMore) {
  const auto kind =
      this->store.adopt(layout_of({slot_of("a", {per_second(5, 5)}), slot_of("b", {per_second(9, 9)})}));
  this->adjust(kind, "unknown", {{.by = -3}});
  EXPECT_EQ(this->remaining(kind, "unknown", 0), 5);
  this->acquire(kind, "subject", {{.slot = 0, .cost = 4}, {.slot = 1, .cost = 4}});
  this->adjust(kind, "subject", {{.slot = 0, .by = -3}});
  EXPECT_EQ(this->all_remaining(kind, "subject", 2), (std::vector<Cost>{4, 5}));
  this->adjust(kind, "subject", {{.slot = 0, .by = -3}, {.slot = 1, .by = -1}});
  EXPECT_EQ(this->all_remaining(kind, "subject", 2), (std::vector<Cost>{5, 6}));
}

TYPED_TEST_P(StoreContract, AResetForgetsOneSubject) {
  const auto kind = this->store.adopt(layout_of({slot_of("a", {per_second(5, 5)})}));
  this->acquire(kind, "subject", {{.cost = 5}});
  this->acquire(kind, "other", {{.cost = 5}});
  this->store.reset(kind, "subject");
  this->store.reset(kind, "unknown");
  EXPECT_EQ(this->remaining(kind, "subject", 0), 5);
  EXPECT_EQ(this->remaining(kind, "other", 0), 0);
}

TYPED_TEST_P(StoreContract, VariantsOfASlotShareTheUsedAmount) {
  const auto kind = this->store.adopt(layout_of({slot_of("a", {per_second(10, 10), per_second(100, 100)})}));
  const auto ask = [&](std::uint8_t variant, Cost cost) {
    return this->acquire(kind, "subject", {{.variant = variant, .cost = cost}});
  };
  EXPECT_EQ(ask(1, 40).outcomes[0].remaining, 60);
  EXPECT_EQ(ask(0, 0).outcomes[0].remaining, 0) << "used 40 of 10";
  const Answer refused = ask(0, 1);
  EXPECT_FALSE(refused.admitted);
  EXPECT_EQ(refused.outcomes[0].retry_after, kSecond / 10);
  EXPECT_EQ(ask(1, 0).outcomes[0].remaining, 60) << "a refusal and a peek of another variant carry nothing over";
  this->store.reset(kind, "subject");
  EXPECT_EQ(ask(0, 5).outcomes[0].remaining, 5);
  EXPECT_EQ(ask(1, 5).outcomes[0].remaining, 90);
  EXPECT_EQ(ask(0, 0).outcomes[0].remaining, 0);
}

TYPED_TEST_P(StoreContract, AWaitThatAFasterVariantAsksForIsTrue) {
  const auto kind = this->store.adopt(layout_of({slot_of("a", {per_second(1, 5), per_second(100, 5)})}));
  this->acquire(kind, "subject", {{.variant = 0, .cost = 5}});
  const Answer refused = this->acquire(kind, "subject", {{.variant = 1}});
  EXPECT_FALSE(refused.admitted);
  ASSERT_EQ(refused.outcomes[0].retry_after, kSecond / 100);
  EXPECT_FALSE(this->acquire(kind, "subject", {{.variant = 1}}, kSecond / 100 - 1).admitted);
  EXPECT_TRUE(this->acquire(kind, "subject", {{.variant = 1}}, kSecond / 100).admitted);
}

TYPED_TEST_P(StoreContract, ARefusalElsewhereKeepsTheVariantThatWrote) {
  const auto kind = this->store.adopt(
      layout_of({slot_of("a", {per_second(100, 100), per_second(50, 50)}), slot_of("b", {per_second(1, 1)})}));
  this->acquire(kind, "subject", {{.slot = 0, .variant = 0, .cost = 80}, {.slot = 1}});
  const Answer refused = this->acquire(kind, "subject", {{.slot = 0, .variant = 1, .cost = 0}, {.slot = 1}});
  EXPECT_FALSE(refused.admitted);
  EXPECT_EQ(refused.outcomes[0].remaining, 0);
  const Answer also =
      this->acquire(kind, "subject", {{.slot = 0, .variant = 1, .cost = 1}, {.slot = 1}}, kSecond / 2);
  EXPECT_FALSE(also.admitted);
  EXPECT_TRUE(also.outcomes[0].admitted) << "30 used of 50";
  EXPECT_EQ(also.outcomes[0].remaining, 20);
  EXPECT_EQ(this->remaining(kind, "subject", 0), 20) << "80 used of 100";
}

TYPED_TEST_P(StoreContract, TheSameLayoutAgainIsTheSameKind) {
  const Layout layout = layout_of({slot_of("a", {per_second(5, 5)})});
  const auto kind = this->store.adopt(layout);
  this->acquire(kind, "subject", {{.cost = 2}});
  EXPECT_EQ(this->store.adopt(layout), kind);
  EXPECT_EQ(this->remaining(kind, "subject", 0), 3);
}

TYPED_TEST_P(StoreContract, AReloadKeepsWhatDidNotChangeAndCarriesWhatDid) {
  const auto before =
      this->store.adopt(layout_of({slot_of("same", {per_second(7, 9)}), slot_of("larger", {per_second(10, 10)}),
                                   slot_of("smaller", {per_second(10, 100)}), slot_of("gone", {per_second(5, 5)})}));
  this->acquire(before, "subject",
                {{.slot = 0, .cost = 4}, {.slot = 1, .cost = 10}, {.slot = 2, .cost = 50}, {.slot = 3, .cost = 5}});
  const Answer kept = this->acquire(before, "subject", {{.slot = 0, .cost = 0}}, 12345);
  const auto after =
      this->store.adopt(layout_of({slot_of("new", {per_second(3, 3)}), slot_of("smaller", {per_second(10, 10)}),
                                   slot_of("larger", {per_second(10, 100)}), slot_of("same", {per_second(7, 9)})}));
  EXPECT_EQ(this->all_remaining(after, "subject", 4), (std::vector<Cost>{3, 0, 90, 5}));
  EXPECT_EQ(this->acquire(after, "subject", {{.slot = 3, .cost = 0}}, 12345), kept);
  EXPECT_EQ(this->acquire(after, "subject", {{.slot = 1}}).outcomes[0].retry_after, kSecond / 10);
  EXPECT_TRUE(this->acquire(after, "subject", {{.slot = 0, .cost = 3}}).admitted);
}

TYPED_TEST_P(StoreContract, VariantsThatAReloadRemovesAreCarriedByTheLastThatIsLeft) {
  const auto before = this->store.adopt(
      layout_of({slot_of("a", {per_second(10, 10), per_second(100, 100), per_second(1000, 1000)})}));
  this->acquire(before, "subject", {{.variant = 2, .cost = 60}});
  const auto after = this->store.adopt(layout_of({slot_of("a", {per_second(10, 10), per_second(100, 100)})}));
  EXPECT_EQ(this->acquire(after, "subject", {{.variant = 1, .cost = 0}}).outcomes[0].remaining, 40);
  const auto single = this->store.adopt(layout_of({slot_of("a", {per_second(80, 80)})}));
  EXPECT_EQ(this->remaining(single, "subject", 0), 20);
}

REGISTER_TYPED_TEST_SUITE_P(StoreContract, GivesTheExactValuesOfTheGoldenTraces, TakesFromAllLimitsOrFromNone,
                            ARefusedCallOnASubjectThatWasNeverSeenTakesNothing, EveryLimitHasItsOwnCost,
                            APeekChangesNothingWhereverItStands, SubjectsAndKindsAreCountedApart,
                            WhatIsGivenBackIsThereAgainButNeverMore, AResetForgetsOneSubject,
                            VariantsOfASlotShareTheUsedAmount, AWaitThatAFasterVariantAsksForIsTrue,
                            ARefusalElsewhereKeepsTheVariantThatWrote, TheSameLayoutAgainIsTheSameKind,
                            AReloadKeepsWhatDidNotChangeAndCarriesWhatDid,
                            VariantsThatAReloadRemovesAreCarriedByTheLastThatIsLeft);

// Of a store that one process has to itself: what it adopts is in force for everybody.
template <class UnderTest>
class OneConfigurationContract : public StoreContract<UnderTest> {};

TYPED_TEST_SUITE_P(OneConfigurationContract);

TYPED_TEST_P(OneConfigurationContract, ALimitThatLeavesAndComesBackStartsAfresh) {
  const Layout both = layout_of({slot_of("a", {per_second(5, 5)}), slot_of("b", {per_second(5, 5)})});
  const auto first = this->store.adopt(both);
  this->acquire(first, "subject", {{.slot = 0, .cost = 4}, {.slot = 1, .cost = 4}});
  const auto second = this->store.adopt(layout_of({slot_of("a", {per_second(5, 5)})}));
  EXPECT_EQ(this->remaining(second, "subject", 0), 1);
  const auto third = this->store.adopt(both);
  EXPECT_EQ(this->all_remaining(third, "subject", 2), (std::vector<Cost>{1, 5}));
}

TYPED_TEST_P(OneConfigurationContract, CallsOfAnOldKindAreAnsweredByTheNewNumbers) {
  const auto old = this->store.adopt(
      layout_of({slot_of("gone", {per_second(5, 5)}), slot_of("a", {per_second(10, 10), per_second(20, 20)})}));
  this->acquire(old, "subject", {{.slot = 0, .cost = 5}, {.slot = 1, .variant = 1, .cost = 4}});
  const auto fresh = this->store.adopt(layout_of({slot_of("a", {per_second(6, 6)})}));
  const Answer answer = this->acquire(old, "subject", {{.slot = 0, .cost = 5}, {.slot = 1, .variant = 1}});
  EXPECT_TRUE(answer.admitted);
  EXPECT_EQ(answer.outcomes[0].remaining, 5) << "a limit that is gone admits";
  EXPECT_EQ(answer.outcomes[1].remaining, 1);
  EXPECT_EQ(this->remaining(fresh, "subject", 0), 1);
  EXPECT_FALSE(this->acquire(old, "subject", {{.slot = 0}, {.slot = 1, .cost = 2}}).admitted);
  this->adjust(old, "subject", {{.slot = 0, .by = -1}, {.slot = 1, .variant = 1, .by = -3}});
  EXPECT_EQ(this->remaining(fresh, "subject", 0), 4);
  this->store.reset(old, "subject");
  EXPECT_EQ(this->remaining(fresh, "subject", 0), 6);
}

REGISTER_TYPED_TEST_SUITE_P(OneConfigurationContract, ALimitThatLeavesAndComesBackStartsAfresh,
                            CallsOfAnOldKindAreAnsweredByTheNewNumbers);

}  // namespace weir::store::contract
