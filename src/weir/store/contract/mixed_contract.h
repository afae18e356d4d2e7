// SPDX-License-Identifier: Apache-2.0
//
// What every store promises about accounts whose limits count in different ways: all or nothing, adjustments, leases,
// jitter, and changes of the algorithm. Used as store_contract.h, which says what UnderTest is.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "weir/limit/alignment.h"
#include "weir/store/contract/store_contract.h"

namespace weir::store::contract {

using limit::Limit;

constexpr Ticks kMinute = 60 * kSecond;

inline Limit fixed(Cost capacity, Ticks window = kMinute, bool jitter = false, Cost debt = 0) {
  return limit::FixedWindow::create({.capacity = capacity,
                                     .alignment = {.window = window, .jitter = jitter},
                                     .ticks_per_second = kSecond,
                                     .debt = debt})
      .value();
}
inline Limit sliding(Cost capacity, Ticks window = kMinute, Cost debt = 0) {
  return limit::SlidingWindow::create(
             {.capacity = capacity, .alignment = {.window = window}, .ticks_per_second = kSecond, .debt = debt})
      .value();
}
inline Limit log(Cost capacity, Ticks window = kMinute, Cost debt = 0) {
  return limit::SlidingLog::create(
             {.capacity = capacity, .window = window, .ticks_per_second = kSecond, .debt = debt})
      .value();
}
inline Limit running(Cost capacity, Ticks lease = 30 * kSecond) {
  return limit::Concurrency::create({.capacity = capacity, .lease = lease, .ticks_per_second = kSecond}).value();
}
inline Limit line(std::int64_t count, std::int64_t queue) {
  return limit::LeakyBucket::create({.count = count, .period = kSecond, .queue = queue, .ticks_per_second = kSecond})
      .value();
}
inline Limit monthly(Cost capacity) {
  return limit::CalendarQuota::create(
             {.capacity = capacity, .ticks_per_second = kSecond},
             limit::CivilCalendar::create({.unit = limit::CivilCalendar::Unit::kMonth}).value())
      .value();
}
inline Limit indebted(std::int64_t count, Cost capacity) {
  return limit::TokenBucket::create(
             {.count = count, .period = kSecond, .capacity = capacity, .ticks_per_second = kSecond, .debt = capacity})
      .value();
}

inline limit::Call call_of(std::uint64_t request, Ticks now) {
  return {.now = now, .wall = now, .lease = {.low = request, .high = 1}};
}

inline std::string text_of(const Outcome& outcome) {
  const auto time = [](const std::optional<Ticks>& ticks) { return ticks ? std::to_string(*ticks) : "-"; };
  return (outcome.admitted ? "admitted " : "refused ") + std::to_string(outcome.remaining) + " retry " +
         time(outcome.retry_after) + " reset " + time(outcome.reset_after) + " next " + time(outcome.next_after) +
         " delay " + time(outcome.delay) + " at " + time(outcome.at);
}

template <class UnderTest>
class MixedContract : public StoreContract<UnderTest> {};

TYPED_TEST_SUITE_P(MixedContract);

TYPED_TEST_P(MixedContract, OneOfEveryAlgorithmAdmitsTogetherOrNotAtAll) {
  const std::vector<Limit> limits{per_second(1, 9), fixed(9), sliding(9), log(9), line(1, 8), running(9), monthly(9)};
  for (std::size_t refusing = 0; refusing < limits.size(); ++refusing) {
    const auto index = static_cast<std::uint16_t>(refusing);
    Layout layout{.kind = "kind " + std::to_string(refusing), .slots = {}};
    std::vector<Charge> charges;
    for (std::uint16_t slot = 0; slot < limits.size(); ++slot) {
      layout.slots.push_back({std::to_string(slot), {limits[slot]}});
      charges.push_back({.slot = slot});
    }
    const auto kind = this->store.adopt(layout);
    for (std::uint64_t i = 0; i < 9; ++i) {
      ASSERT_TRUE(this->acquire(kind, "subject", {{.slot = index}}, call_of(i, 0)).admitted);
    }
    const Answer refused = this->acquire(kind, "subject", charges, call_of(100, 0));
    EXPECT_FALSE(refused.admitted);
    for (std::uint16_t slot = 0; slot < limits.size(); ++slot) {
      SCOPED_TRACE(std::to_string(refusing) + " refuses, " + std::to_string(slot) + " looked at");
      EXPECT_EQ(refused.outcomes[slot].admitted, slot != refusing);
      EXPECT_EQ(refused.outcomes[slot].remaining, slot == refusing ? 0 : 9);
      EXPECT_EQ(this->remaining(kind, "subject", slot), slot == refusing ? 0 : 9);
    }
  }
}

TYPED_TEST_P(MixedContract, EveryLimitOfAnAccountHasItsOwnCost) {
  const auto kind =
      this->store.adopt(layout_of({slot_of("calls", {fixed(10)}), slot_of("bytes", {per_second(100, 1000)})}));
  const std::vector<Charge> charges{{.slot = 0, .cost = 1}, {.slot = 1, .cost = 700}};
  const auto remain = [&](Ticks now) { return this->all_remaining(kind, "subject", 2, now); };
  EXPECT_TRUE(this->acquire(kind, "subject", charges).admitted);
  EXPECT_EQ(remain(0), (std::vector<Cost>{9, 300}));
  const Answer refused = this->acquire(kind, "subject", charges);
  EXPECT_FALSE(refused.admitted);
  EXPECT_EQ(refused.outcomes[1].retry_after, 4 * kSecond);
  EXPECT_EQ(remain(0), (std::vector<Cost>{9, 300}));
  EXPECT_TRUE(this->acquire(kind, "subject", charges, 4 * kSecond).admitted);
  EXPECT_EQ(remain(4 * kSecond), (std::vector<Cost>{8, 0}));
}

TYPED_TEST_P(MixedContract, ChargesOfTheSameSlotAreOneOfTheirSum) {
  const auto kind = this->store.adopt(layout_of({slot_of("one", {fixed(1)}), slot_of("two", {fixed(2)})}));
  const Answer refused = this->acquire(kind, "subject", {{.slot = 0}, {.slot = 1}, {.slot = 0}});
  EXPECT_FALSE(refused.admitted);
  EXPECT_EQ(refused.outcomes[0].retry_after, std::nullopt) << "two never fit";
  EXPECT_EQ(refused.outcomes[0].remaining, 1);
  EXPECT_EQ(refused.outcomes[2], refused.outcomes[0]);
  EXPECT_EQ(refused.outcomes[1].remaining, 2);
  const Answer admitted = this->acquire(kind, "subject", {{.slot = 1}, {.slot = 1}});
  EXPECT_TRUE(admitted.admitted);
  EXPECT_EQ(admitted.outcomes[0].remaining, 0);
  constexpr Cost kMost = limit::kMaxUnits;
  EXPECT_FALSE(this->acquire(kind, "subject", {{.slot = 0, .cost = kMost}, {.slot = 0, .cost = kMost}}).admitted);
}

TYPED_TEST_P(MixedContract, AWindowGivesBackOnlyWhileItLasts) {
  const auto kind = this->store.adopt(layout_of({slot_of("a", {fixed(5)})}));
  const Ticks at = this->acquire(kind, "subject", {{.cost = 4}}, 10 * kSecond).outcomes[0].at;
  EXPECT_EQ(this->adjust(kind, "subject", {{.by = -1, .at = at}}, 59 * kSecond)[0].remaining, 2);
  this->acquire(kind, "subject", {{.cost = 3}}, kMinute);
  EXPECT_EQ(this->adjust(kind, "subject", {{.by = -3, .at = at}}, kMinute)[0].remaining, 2) << "another window";
}

TYPED_TEST_P(MixedContract, ALogGivesBackTheEntryThatWasCharged) {
  const auto kind = this->store.adopt(layout_of({slot_of("a", {log(5)})}));
  const Ticks first = this->acquire(kind, "subject", {{.cost = 3}}, 0).outcomes[0].at;
  this->acquire(kind, "subject", {{.cost = 2}}, kSecond);
  EXPECT_EQ(this->adjust(kind, "subject", {{.by = -3, .at = first}}, 2 * kSecond)[0].remaining, 3);
  EXPECT_EQ(this->adjust(kind, "subject", {{.by = -3, .at = first}}, 2 * kSecond)[0].remaining, 3) << "it is gone";
  EXPECT_EQ(this->remaining(kind, "subject", 0, kMinute + kSecond), 5);
}

TYPED_TEST_P(MixedContract, WhatTurnsOutToCostMoreIsTakenEvenIfNothingIsThere) {
  const auto kind = this->store.adopt(
      layout_of({slot_of("bucket", {indebted(100, 100)}), slot_of("window", {fixed(100, kMinute, false, 50)}),
                 slot_of("sliding", {sliding(100, kMinute, 50)}), slot_of("log", {log(100, kMinute, 50)})}));
  std::vector<Charge> charges;
  std::vector<Adjustment> adjustments;
  for (std::uint16_t slot = 0; slot < 4; ++slot) charges.push_back({.slot = slot, .cost = 100});
  const Answer reserved = this->acquire(kind, "subject", charges);
  ASSERT_TRUE(reserved.admitted);
  for (std::uint16_t slot = 0; slot < 4; ++slot) {
    adjustments.push_back({.slot = slot, .by = 50, .at = reserved.outcomes[slot].at});
  }
  for (const Outcome& after : this->adjust(kind, "subject", adjustments)) {
    EXPECT_EQ(after.remaining, 0);
    EXPECT_FALSE(after.admitted) << "in debt";
  }
  EXPECT_EQ(this->acquire(kind, "subject", {{.slot = 0}}).outcomes[0].retry_after, kSecond / 100 * 51);
}

TYPED_TEST_P(MixedContract, WhatIsTakenLaterIsOwedByASubjectThatWasForgotten) {
  const auto kind = this->store.adopt(layout_of({slot_of("a", {indebted(1, 10)})}));
  EXPECT_EQ(this->adjust(kind, "subject", {{.by = 4}})[0].remaining, 6);
  EXPECT_EQ(this->remaining(kind, "subject", 0), 6);
}

TYPED_TEST_P(MixedContract, AdjustmentsOfSeveralLimitsAreOneStep) {
  const auto kind = this->store.adopt(layout_of({slot_of("a", {per_second(1, 9)}), slot_of("b", {sliding(9)})}));
  const Answer taken = this->acquire(kind, "subject", {{.slot = 0, .cost = 4}, {.slot = 1, .cost = 4}});
  const auto after =
      this->adjust(kind, "subject", {{.slot = 1, .by = -2, .at = taken.outcomes[1].at}, {.slot = 0, .by = -4}});
  EXPECT_EQ(after[0].remaining, 7);
  EXPECT_EQ(after[1].remaining, 9);
}

TYPED_TEST_P(MixedContract, ALeaseIsTakenOnceEndedOnceAndRunsOut) {
  const auto kind = this->store.adopt(layout_of({slot_of("a", {running(2)})}));
  const auto acquire = [&](std::uint64_t id, Ticks now) {
    return this->acquire(kind, "subject", {{}}, call_of(id, now));
  };
  const auto end = [&](std::uint64_t id, Ticks now) {
    std::array<Outcome, 1> after;
    this->store.adjust(kind, "subject", std::array{Adjustment{.by = -1}}, call_of(id, now), after);
    return after[0].remaining;
  };
  const std::array<Charge, 1> charges{{{}}};
  EXPECT_EQ(acquire(1, 0).outcomes[0].remaining, 1);
  EXPECT_EQ(acquire(1, 0).outcomes[0].remaining, 1) << "the same request again";
  EXPECT_TRUE(acquire(2, 0).admitted);
  EXPECT_FALSE(acquire(3, 0).admitted);
  EXPECT_EQ(end(1, kSecond), 1);
  EXPECT_EQ(end(1, kSecond), 1) << "its place is somebody else's by now";
  EXPECT_TRUE(acquire(3, kSecond).admitted);
  EXPECT_TRUE(this->store.renew(kind, "subject", charges, call_of(3, 20 * kSecond)));
  EXPECT_FALSE(this->store.renew(kind, "subject", charges, call_of(1, 20 * kSecond)));
  EXPECT_FALSE(acquire(4, 30 * kSecond - 1).admitted);
  EXPECT_TRUE(acquire(4, 30 * kSecond).admitted) << "the second one ran out";
  EXPECT_FALSE(acquire(5, 50 * kSecond - 1).admitted);
  EXPECT_TRUE(acquire(5, 50 * kSecond).admitted) << "the renewed one ran out, too";
}

TYPED_TEST_P(MixedContract, ARefusedRequestHoldsNoLease) {
  const auto kind = this->store.adopt(layout_of({slot_of("run", {running(2)}), slot_of("rate", {per_second(1, 1)})}));
  EXPECT_TRUE(this->acquire(kind, "subject", {{.slot = 0}, {.slot = 1}}, call_of(1, 0)).admitted);
  for (std::uint64_t id = 2; id < 9; ++id) {
    const Answer refused = this->acquire(kind, "subject", {{.slot = 0}, {.slot = 1}}, call_of(id, 0));
    EXPECT_FALSE(refused.admitted);
    EXPECT_EQ(refused.outcomes[0].remaining, 1);
  }
}

TYPED_TEST_P(MixedContract, WithJitterTheWindowsOfSubjectsEndAtTheirOwnTimes) {
  const auto kind = this->store.adopt(layout_of({slot_of("a", {fixed(1, kMinute, true)})}));
  const limit::Call call{.now = 0, .wall = 600 * kSecond, .phase = limit::fnv1a("tenant-7")};
  // The phase of this subject, in whole ticks, is where its window begins.
  const auto offset = static_cast<Ticks>(call.phase % static_cast<std::uint64_t>(kMinute));
  EXPECT_EQ(this->acquire(kind, "tenant-7", {{}}, call).outcomes[0].reset_after, offset);
  limit::Call other = call;
  other.phase = 17 * kSecond;
  EXPECT_EQ(this->acquire(kind, "other", {{}}, other).outcomes[0].reset_after, 17 * kSecond);
  other.wall += 17 * kSecond - 1;
  EXPECT_FALSE(this->acquire(kind, "other", {{}}, other).admitted);
  other.wall += 1;
  EXPECT_TRUE(this->acquire(kind, "other", {{}}, other).admitted);
}

TYPED_TEST_P(MixedContract, JitterThatComesOrGoesHandsOutNothing) {
  for (const std::uint64_t phase :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{17} * kSecond, std::uint64_t{59} * kSecond}) {
    const std::string subject = std::to_string(phase);
    const auto remaining = [&](bool jitter, Cost cost) {
      const auto kind = this->store.adopt(layout_of({slot_of("a", {fixed(9, kMinute, jitter)})}));
      const limit::Call call{.now = 0, .wall = 630 * kSecond, .phase = phase};
      return this->acquire(kind, subject, {{.cost = cost}}, call).outcomes[0].remaining;
    };
    EXPECT_EQ(remaining(false, 5), 4);
    EXPECT_EQ(remaining(true, 0), 4) << phase;
    EXPECT_EQ(remaining(true, 1), 3) << phase;
    EXPECT_EQ(remaining(false, 0), 3) << phase;
  }
}

TYPED_TEST_P(MixedContract, JitterThatComesMakesNobodyWaitLongerThanAWindow) {
  for (std::uint64_t second = 1; second < 60; ++second) {
    const std::string subject = std::to_string(second);
    const limit::Call call{.now = 0, .wall = 630 * kSecond, .phase = second * kSecond};
    const auto ask = [&](bool jitter) {
      const auto kind = this->store.adopt(layout_of({slot_of("a", {fixed(1, kMinute, jitter)})}));
      return this->acquire(kind, subject, {{}}, call);
    };
    ASSERT_TRUE(ask(false).admitted);
    const auto refused = ask(true).outcomes[0];
    EXPECT_FALSE(refused.admitted);
    EXPECT_EQ(refused.retry_after, static_cast<Ticks>(second > 30 ? second - 30 : second + 30) * kSecond);
  }
}

TYPED_TEST_P(MixedContract, WhatWasReservedForNothingIsTakenFromALogToo) {
  const auto kind = this->store.adopt(layout_of({slot_of("a", {log(10, kMinute, 10)})}));
  const Ticks at = this->acquire(kind, "subject", {{.cost = 0}}, 5 * kSecond).outcomes[0].at;
  this->acquire(kind, "subject", {{.cost = 2}}, 6 * kSecond);
  EXPECT_EQ(this->adjust(kind, "subject", {{.by = 5, .at = at}}, 7 * kSecond)[0].remaining, 3);
  EXPECT_EQ(this->remaining(kind, "subject", 0, kMinute + 5 * kSecond), 8);
}

TYPED_TEST_P(MixedContract, AnotherAlgorithmStartsAfreshAndOtherNumbersCarry) {
  const auto adopt = [&](const Limit& limit) { return this->store.adopt(layout_of({slot_of("a", {limit})})); };
  const auto take = [&](const auto& kind, Cost cost) {
    return this->acquire(kind, "subject", {{.cost = cost}}, call_of(1, kSecond));
  };
  take(adopt(log(9)), 5);
  EXPECT_EQ(this->remaining(adopt(log(7, 2 * kMinute)), "subject", 0, kSecond), 2);
  EXPECT_EQ(this->remaining(adopt(running(7)), "subject", 0, kSecond), 7);
  take(adopt(running(7)), 3);
  EXPECT_EQ(this->remaining(adopt(running(5)), "subject", 0, kSecond), 2);
  EXPECT_EQ(this->remaining(adopt(sliding(5)), "subject", 0, kSecond), 5);
  take(adopt(sliding(5)), 5);
  EXPECT_EQ(this->remaining(adopt(sliding(8, 3 * kMinute)), "subject", 0, kSecond), 3);
  EXPECT_EQ(this->remaining(adopt(per_second(1, 5)), "subject", 0, kSecond), 5);
}

TYPED_TEST_P(MixedContract, WhatAnotherAlgorithmTookIsNotGivenBack) {
  const auto before = this->store.adopt(layout_of({slot_of("a", {running(9)}), slot_of("gone", {fixed(9)})}));
  ASSERT_TRUE(this->acquire(before, "subject", {{.slot = 0}, {.slot = 1}}, call_of(1, 0)).admitted);
  const auto after = this->store.adopt(layout_of({slot_of("a", {per_second(1, 5)})}));
  this->acquire(after, "subject", {{.cost = 5}});
  const auto outcomes = this->adjust(before, "subject", {{.slot = 0, .by = -1}, {.slot = 1, .by = -1}});
  EXPECT_EQ(outcomes[0].remaining, 0);
  EXPECT_EQ(outcomes[1].remaining, 9) << "a limit that is gone is never used up";
  EXPECT_EQ(this->remaining(after, "subject", 0), 0);
}

TYPED_TEST_P(MixedContract, ALeaseLastsAsLongAsItsHolderWasPromised) {
  const auto adopt = [&](Ticks lease) { return this->store.adopt(layout_of({slot_of("a", {running(1, lease)})})); };
  const auto before = adopt(600 * kSecond);
  ASSERT_TRUE(this->acquire(before, "subject", {{}}, call_of(1, 0)).admitted);
  const auto after = adopt(kSecond);
  const std::array<Charge, 1> charges{{{}}};
  for (Ticks now = 0; now < 3000 * kSecond; now += 100 * kSecond) {
    if (now % (200 * kSecond) == 0) {
      EXPECT_TRUE(this->store.renew(before, "subject", charges, call_of(1, now)));
    }
    EXPECT_FALSE(this->acquire(after, "subject", {{}}, call_of(2, now)).admitted) << now / kSecond;
  }
}

TYPED_TEST_P(MixedContract, VariantsOfALogShareItsEntries) {
  const auto kind = this->store.adopt(layout_of({slot_of("a", {log(3), log(9)})}));
  const auto ask = [&](std::uint8_t variant, Cost cost) {
    return this->acquire(kind, "subject", {{.variant = variant, .cost = cost}});
  };
  EXPECT_EQ(ask(1, 5).outcomes[0].remaining, 4);
  EXPECT_FALSE(ask(0, 1).admitted);
  EXPECT_EQ(ask(0, 0).outcomes[0].remaining, 0);
  EXPECT_EQ(ask(1, 4).outcomes[0].remaining, 0);
}

// Random calls on random limits of all kinds, against the same limits stepped one by one.
TYPED_TEST_P(MixedContract, EqualsItsLimitsSteppedOneByOne) {
  constexpr std::size_t kSlots = 8;
  using State = std::array<std::int64_t, Limit::kMaxStateWords>;
  std::mt19937_64 random(7);
  const auto below = [&random](std::uint64_t bound) { return random() % bound; };
  const auto some = [&](std::uint64_t most) { return static_cast<Cost>(1 + below(most)); };
  const std::array<Limit, kSlots> limits{per_second(some(40), some(30)), fixed(some(30), kSecond),
                                         sliding(some(30), kSecond / 3), log(some(30), kSecond / 2),
                                         line(some(40), some(20)),       running(some(30), kSecond / 4),
                                         per_second(37, some(30)),       fixed(some(30), kSecond / 7, true)};
  Layout layout{.kind = "kind", .slots = {}};
  for (std::size_t i = 0; i < kSlots; ++i) layout.slots.push_back({std::to_string(i), {limits[i]}});
  const auto kind = this->store.adopt(layout);
  std::map<std::string, std::array<State, kSlots>> model;
  limit::Call call;
  int refusals = 0;
  for (std::uint64_t number = 1; number <= 20'000; ++number) {
    call.now += static_cast<Ticks>(below(20'000));
    call.wall = call.now + TypeParam::kWallAhead;
    call.lease = {number, 1};
    const std::string subject = std::to_string(below(20));
    call.phase = limit::fnv1a(subject);
    std::vector<Charge> charges;
    for (std::uint16_t slot = 0; slot < kSlots; ++slot) {
      const auto cost = static_cast<Cost>(below(limits[slot].template holds<limit::LeakyBucket>() ? 2 : 4));
      if (below(2) == 0) charges.push_back({.slot = slot, .cost = cost});
    }
    std::shuffle(charges.begin(), charges.end(), random);
    Answer expected{.admitted = true, .outcomes = {}};
    auto& states = model[subject];
    auto stepped = states;
    for (const Charge& charge : charges) {
      const Limit& limit = limits[charge.slot];
      Outcome& outcome = expected.outcomes.emplace_back();
      limit.keeps_entries() ? limit.decide(states[charge.slot], call, charge.cost, outcome)
                            : limit.step(stepped[charge.slot], call, charge.cost, outcome);
      expected.admitted &= outcome.admitted;
    }
    for (std::size_t i = 0; i < charges.size(); ++i) {
      const std::uint16_t slot = charges[i].slot;
      const Limit& limit = limits[slot];
      if (!expected.admitted) {
        if (expected.outcomes[i].admitted) expected.outcomes[i] = limit.peek(states[slot], call);
      } else if (!limit.keeps_entries()) {
        states[slot] = stepped[slot];
      } else if (charges[i].cost > 0) {
        limit.commit(states[slot], call, charges[i].cost);
      }
    }
    refusals += expected.admitted ? 0 : 1;
    const Answer answer = this->acquire(kind, subject, charges, call);
    ASSERT_EQ(answer.admitted, expected.admitted) << "call " << number;
    for (std::size_t i = 0; i < charges.size(); ++i) {
      ASSERT_EQ(text_of(answer.outcomes[i]), text_of(expected.outcomes[i]))
          << "call " << number << ", slot " << charges[i].slot << ", cost " << charges[i].cost;
    }
  }
  EXPECT_GT(refusals, 1000);
  for (auto& [subject, states] : model) {
    for (std::size_t i = 0; i < kSlots; ++i) limits[i].release(states[i]);
  }
}

REGISTER_TYPED_TEST_SUITE_P(
    MixedContract, OneOfEveryAlgorithmAdmitsTogetherOrNotAtAll, EveryLimitOfAnAccountHasItsOwnCost,
    ChargesOfTheSameSlotAreOneOfTheirSum, AWindowGivesBackOnlyWhileItLasts, ALogGivesBackTheEntryThatWasCharged,
    WhatTurnsOutToCostMoreIsTakenEvenIfNothingIsThere, WhatIsTakenLaterIsOwedByASubjectThatWasForgotten,
    AdjustmentsOfSeveralLimitsAreOneStep, ALeaseIsTakenOnceEndedOnceAndRunsOut, ARefusedRequestHoldsNoLease,
    WithJitterTheWindowsOfSubjectsEndAtTheirOwnTimes, JitterThatComesOrGoesHandsOutNothing,
    JitterThatComesMakesNobodyWaitLongerThanAWindow, WhatWasReservedForNothingIsTakenFromALogToo,
    AnotherAlgorithmStartsAfreshAndOtherNumbersCarry, VariantsOfALogShareItsEntries,
    WhatAnotherAlgorithmTookIsNotGivenBack, ALeaseLastsAsLongAsItsHolderWasPromised, EqualsItsLimitsSteppedOneByOne);

}  // namespace weir::store::contract
