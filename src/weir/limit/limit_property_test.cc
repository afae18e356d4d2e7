// SPDX-License-Identifier: Apache-2.0
//
// What every algorithm promises about its outcomes, on random limits and random traces.
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "weir/limit/testing/oracle.h"
#include "weir/limit/testing/random_trace.h"
#include "weir/limit/testing/subject.h"

namespace weir::limit {
namespace {

struct PromisedWaits : LimitProperty {};
struct Debts : LimitProperty {};

INSTANTIATE_TEST_SUITE_P(Every, LimitProperty, every_kind(), name_of_param);
// Of leases, when one ends cannot be known.
INSTANTIATE_TEST_SUITE_P(Every, PromisedWaits,
                         testing::Values(Kind::kTokenBucket, Kind::kFixedWindow, Kind::kSlidingWindow,
                                         Kind::kSlidingLog, Kind::kLeakyBucket, Kind::kCalendarQuota),
                         name_of_param);
INSTANTIATE_TEST_SUITE_P(Every, Debts,
                         testing::Values(Kind::kTokenBucket, Kind::kFixedWindow, Kind::kSlidingWindow,
                                         Kind::kSlidingLog, Kind::kCalendarQuota),
                         name_of_param);

// A limit, its oracle, and charges that can be given back or made larger later.
class Judged {
 public:
  Judged(const Limit& limit, RandomTrace& trace) : subject_(limit), oracle_(limit), trace_(trace) {}

  void step() {
    const Call call = trace_.call();
    const Cost cost = trace_.cost(last_);
    const bool jumped = oracle_.model().jumped(call);
    const Subject before(subject_);
    last_ = subject_.step(call, cost);
    const std::string_view wrong = oracle_.judge(call, cost, last_);
    ASSERT_EQ(wrong, "") << " at " << call.now << ", wall " << call.wall << ", cost " << cost
                         << (last_.admitted ? ", admitted" : ", refused") << ", remaining " << last_.remaining
                         << ", retry_after " << last_.retry_after.value_or(-1) << ", reset_after "
                         << last_.reset_after << ", next_after " << last_.next_after.value_or(-1);
    const bool may_write = cost > 0 && (last_.admitted || jumped);
    ASSERT_TRUE(may_write || subject_.same_bytes(before));
    if (cost > 0 && last_.admitted) charges_.push_back({call, cost, last_.at, oracle_.model().instant(call)});
  }

  // Gives back or takes more for a charge of before, or renews its lease.
  void revise() {
    if (charges_.empty() || oracle_.model().jumped(trace_.call())) return;
    const auto which = between(trace_.random(), 0, std::ssize(charges_) - 1);
    const Charge charge = charges_[static_cast<std::size_t>(which)];
    Call call = trace_.call();
    call.lease = charge.call.lease;
    switch (between(trace_.random(), 0, 2)) {
      case 0:
        charges_.erase(charges_.begin() + which);
        return give_back(call, charge);
      case 1:
        return take(call, charge);
      default:
        return renew(call);
    }
  }

  const Outcome& last() const { return last_; }

 private:
  struct Charge {
    Call call;
    Cost cost;
    Ticks at;         // as the outcome named it
    Ticks counts_at;  // as the model does
  };
  void give_back(const Call& call, const Charge& charge) {
    const Cost cost = between(trace_.random(), 0, charge.cost);
    if (cost == 0) return;
    subject_.give_back(call, cost, charge.at);
    oracle_.model().give_back(call, cost, charge.counts_at);
  }
  void take(const Call& call, const Charge& charge) {
    if (subject_.limit().holds<LeakyBucket>()) return;
    const Cost cost = spread(trace_.random(), 2 * subject_.limit().capacity() + 10);
    subject_.take(call, cost, charge.at);
    oracle_.model().take(call, cost, charge.counts_at);
  }
  void renew(const Call& call) {
    auto* model = dynamic_cast<LeaseModel*>(&oracle_.model());
    ASSERT_EQ(subject_.renew(call), model != nullptr && model->renew(call));
  }

  Subject subject_;
  Oracle oracle_;
  RandomTrace& trace_;
  Outcome last_;
  std::vector<Charge> charges_;
};

TEST_P(LimitProperty, EveryFieldIsWhatItsDefinitionSays) {
  for_each_trace([](const Limit& limit, RandomTrace& trace) {
    Judged judged(limit, trace);
    for (std::int64_t i = 0; i < kStepsPerTrace && !HasFatalFailure(); ++i) {
      judged.step();
      if (one_in(trace.random(), 6)) judged.revise();
      trace.move(judged.last());
    }
  });
}

// Calls `check(subject, call, cost, outcome)` after each step of a clock that never goes back.
template <class Check>
auto after_each_step(Check check) {
  return [check](const Limit& limit, RandomTrace& trace) {
    Subject subject(limit);
    Outcome last;
    for (std::int64_t i = 0; i < kStepsPerTrace && !testing::Test::HasFatalFailure(); ++i, trace.advance(last)) {
      const Call call = trace.call();
      const Cost cost = trace.cost(last);
      last = subject.step(call, cost);
      check(subject, trace, cost, last);
    }
  };
}

Call stranger(Call call) {
  call.lease = {.low = 1'000'000'007};
  return call;
}

TEST_P(PromisedWaits, ARefusalHoldsUntilRetryAfterAndNotLonger) {
  for_each_trace(after_each_step([](const Subject& subject, RandomTrace& trace, Cost cost, const Outcome& last) {
    if (last.admitted) return;
    ASSERT_EQ(last.retry_after.has_value(), cost <= subject.limit().capacity());
    if (!last.retry_after) return;
    ASSERT_GE(*last.retry_after, 1);
    ASSERT_LE(last.next_after.value(), *last.retry_after);
    ASSERT_FALSE(subject.would_admit(trace.after(*last.retry_after - 1), cost));
    ASSERT_TRUE(subject.would_admit(trace.after(*last.retry_after), cost));
  }));
}

TEST_P(LimitProperty, RemainingIsExactlyWhatPassesNowAndGrowsAtNextAfter) {
  for_each_trace(after_each_step([](const Subject& subject, RandomTrace& trace, Cost, const Outcome& last) {
    const Call call = stranger(trace.call());
    ASSERT_TRUE(subject.would_admit(call, last.remaining));
    ASSERT_FALSE(subject.would_admit(call, last.remaining + 1));
    const Cost less = between(trace.random(), 0, last.remaining);
    ASSERT_TRUE(subject.would_admit(call, less));
    if (!last.next_after) return;
    ASSERT_EQ(subject.peek(trace.after(*last.next_after - 1)).remaining, last.remaining);
    ASSERT_GT(subject.peek(trace.after(*last.next_after)).remaining, last.remaining);
  }));
}

TEST_P(LimitProperty, AfterResetAfterALimitIsAsGoodAsNew) {
  for_each_trace(after_each_step([](const Subject& subject, RandomTrace& trace, Cost, const Outcome& last) {
    ASSERT_EQ(last.reset_after == 0, subject.is_initial(trace.call()));
    ASSERT_FALSE(last.reset_after > 0 && subject.is_initial(trace.after(last.reset_after - 1)));
    const Call later = trace.after(last.reset_after);
    ASSERT_TRUE(subject.is_initial(later));
    Subject idle(subject);
    Subject fresh(subject.limit());
    for (int i = 0; i < 3; ++i) {
      const Cost cost = trace.cost(last);
      ASSERT_EQ(idle.step(later, cost), fresh.step(later, cost));
    }
  }));
}

TEST_P(LimitProperty, PeeksAndRefusalsMayStandAnywhereWithoutAnyEffect) {
  for_each_trace([](const Limit& limit, RandomTrace& trace) {
    Subject polled(limit);
    Subject quiet(limit);
    Outcome last;
    for (std::int64_t i = 0; i < kStepsPerTrace; ++i, trace.advance(last)) {
      const Subject before(polled);
      polled.step(trace.at(trace.swung()), 0);
      ASSERT_TRUE(polled.same_bytes(before));
      const Outcome refused = polled.step(stranger(trace.call()), polled.peek(trace.call()).remaining + 1);
      ASSERT_FALSE(refused.admitted);
      ASSERT_TRUE(polled.same_bytes(before));
      const Cost cost = trace.cost(last);
      last = polled.step(trace.call(), cost);
      ASSERT_EQ(last, quiet.step(trace.call(), cost));
    }
  });
}

TEST_P(LimitProperty, AnEarlierClockNeverAdmitsWhatALaterOneRefuses) {
  for_each_trace(after_each_step([](const Subject& subject, RandomTrace& trace, Cost, const Outcome& last) {
    const Cost cost = std::max<Cost>(trace.cost(last), 1);
    const Ticks earlier = std::min(trace.now(), trace.swung());
    const Ticks later = one_in(trace.random(), 2) ? trace.now() : trace.now() + last.next_after.value_or(1) - 1;
    ASSERT_TRUE(subject.would_admit(stranger(trace.at(later)), cost) ||
                !subject.would_admit(stranger(trace.at(earlier)), cost))
        << "cost " << cost << " at " << later << " or " << earlier;
  }));
}

TEST_P(LimitProperty, WhatIsTakenAndGivenBackWasNeverTaken) {
  for_each_trace(after_each_step([](const Subject& subject, RandomTrace& trace, Cost, const Outcome& last) {
    Subject copy(subject);
    const Call call = stranger(trace.call());
    const Cost cost = std::max<Cost>(1, trace.cost(last));
    const Outcome charged = copy.step(call, cost);
    if (!charged.admitted) return;
    copy.give_back(call, cost, charged.at);
    ASSERT_EQ(copy.peek(call), subject.peek(call));
    for (const Ticks wait : {last.next_after.value_or(0), last.reset_after / 2, last.reset_after}) {
      ASSERT_EQ(copy.peek(trace.after(wait)), subject.peek(trace.after(wait)));
    }
  }));
}

TEST_P(LimitProperty, WhatIsGivenBackAfterEverythingEndedChangesNothing) {
  for_each_trace(after_each_step([](const Subject& subject, RandomTrace& trace, Cost cost, const Outcome& last) {
    if (!last.admitted || cost == 0) return;
    Subject copy(subject);
    const Call call = trace.after(last.reset_after);
    copy.step(stranger(call), trace.cost(last));
    const bool is_bucket = subject.limit().holds<TokenBucket>() || subject.limit().holds<LeakyBucket>();
    if (is_bucket) copy.give_back(call, copy.limit().capacity(), call.now);  // it does not know who was charged
    const Outcome before = copy.peek(call);
    copy.give_back(call, cost, last.at);
    ASSERT_EQ(copy.peek(call), before);
  }));
}

TEST_P(Debts, WhatIsTakenWithoutAskingGoesDownToTheDebtAndMakesWaitsLonger) {
  for_each_trace(after_each_step([](const Subject& subject, RandomTrace& trace, Cost cost, const Outcome& last) {
    if (!last.admitted || cost == 0) return;
    const Call call = trace.call();
    Subject owing(subject);
    owing.take(call, trace.cost(last), last.at);
    const Outcome taken = owing.peek(call);
    ASSERT_LE(taken.remaining, last.remaining);
    ASSERT_GE(taken.reset_after, last.reset_after);
    owing.take(call, kMaxUnits, last.at);
    const Outcome most = owing.peek(call);
    ASSERT_EQ(most.remaining, 0);
    ASSERT_GE(Subject(owing).step(call, 1).retry_after.value_or(0),
              Subject(subject).step(call, 1).retry_after.value_or(0));
    owing.take(call, kMaxUnits, last.at);
    ASSERT_EQ(owing.peek(call), most);
  }));
}

}  // namespace
}  // namespace weir::limit
