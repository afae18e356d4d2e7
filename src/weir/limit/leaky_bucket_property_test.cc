// SPDX-License-Identifier: Apache-2.0
//
// The line of a leaky bucket against a simulation of one, in which people stand, and against the counter of nginx.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <deque>
#include <variant>

#include "weir/limit/leaky_bucket.h"
#include "weir/limit/testing/random_trace.h"
#include "weir/limit/testing/subject.h"

namespace weir::limit {
namespace {

using Fraction = boost::multiprecision::cpp_rational;

struct LeakyBucketProperty : LimitProperty {};

INSTANTIATE_TEST_SUITE_P(Every, LeakyBucketProperty, testing::Values(Kind::kLeakyBucket), name_of_param);

Ticks rounded_up(const Fraction& value) {
  const auto whole = static_cast<Ticks>(boost::multiprecision::cpp_int(numerator(value) / denominator(value)));
  return whole + (value > whole ? 1 : 0);  // value >= 0
}

// Requests that pass one after another at a steady pace, and those that wait for it.
class Line {
 public:
  explicit Line(const LeakyBucket::Numbers& numbers)
      : interval_(Fraction(numbers.period) / numbers.count), queue_(numbers.queue), undelayed_(numbers.undelayed) {}

  // Its delay, or -1: the line is full.
  Ticks join(Ticks now) {
    while (!turns_.empty() && turns_.front() <= now) turns_.pop_front();
    const Fraction turn = std::max<Fraction>(now, free_at_);
    if (turn - now > interval_ * queue_) return -1;
    turns_.push_back(turn);
    free_at_ = turn + interval_;
    return rounded_up(std::max<Fraction>(0, turn - now - interval_ * undelayed_));
  }

  // Somebody whose turn has not come leaves; everybody behind moves up. Returns whether there was somebody.
  bool leave(Ticks now, Random& random) {
    while (!turns_.empty() && turns_.front() <= now) turns_.pop_front();
    if (turns_.empty()) return false;
    const auto which = between(random, 0, std::ssize(turns_) - 1);
    turns_.erase(turns_.begin() + which);
    for (auto behind = turns_.begin() + which; behind != turns_.end(); ++behind) *behind -= interval_;
    free_at_ -= interval_;
    return true;
  }

  bool keeps_its_pace() const {
    return std::ranges::adjacent_find(
               turns_, [&](const Fraction& a, const Fraction& b) { return b - a < interval_; }) == turns_.end();
  }

 private:
  Fraction interval_;
  Fraction queue_;
  Fraction undelayed_;
  Fraction free_at_ = 0;
  std::deque<Fraction> turns_;
};

TEST_P(LeakyBucketProperty, EqualsALineOfPeopleOfWhomSomeLeave) {
  for_each_trace([](const Limit& limit, RandomTrace& trace) {
    Line line(std::get<LeakyBucket>(limit.algorithm()).numbers());
    Subject subject(limit);
    Outcome last;
    for (std::int64_t i = 0; i < kStepsPerTrace; ++i, trace.advance(last)) {
      last = subject.step(trace.call(), 1);
      const Ticks delay = line.join(trace.now());
      ASSERT_EQ(last.admitted, delay >= 0);
      ASSERT_EQ(last.delay, std::max<Ticks>(0, delay));
      if (one_in(trace.random(), 4) && line.leave(trace.now(), trace.random())) {
        subject.give_back(trace.call(), 1, trace.now());
      }
      ASSERT_TRUE(line.keeps_its_pace());
    }
  });
}

// As the module limit_req counts: thousandths of requests, whole milliseconds.
class NginxZone {
 public:
  NginxZone(std::int64_t rate, std::int64_t burst, std::int64_t delay) : rate_(rate), burst_(burst), delay_(delay) {}

  // The delay in ms, or -1: rejected.
  Ticks request(Ticks now) {
    const std::int64_t excess = fresh_ ? 0 : std::max<std::int64_t>(0, excess_ - rate_ * (now - last_) + 1000);
    if (excess > burst_ * 1000) return -1;
    fresh_ = false;
    excess_ = excess;
    last_ = now;
    return std::max<std::int64_t>(0, excess - delay_ * 1000) / rate_;
  }

 private:
  std::int64_t rate_;  // requests per second, which are thousandths per ms
  std::int64_t burst_;
  std::int64_t delay_;
  bool fresh_ = true;
  std::int64_t excess_ = 0;
  Ticks last_ = 0;
};

TEST_P(LeakyBucketProperty, EqualsTheCounterOfNginxOnWholeMilliseconds) {
  for_each_trace([](const Limit&, RandomTrace& trace) {
    Random& random = trace.random();
    constexpr std::int64_t kRates[] = {1, 2, 4, 5, 8, 10, 20, 25, 40, 50, 100, 125, 200, 250, 500, 1000};
    const std::int64_t rate = kRates[between(random, 0, 15)];
    const std::int64_t queue = between(random, 0, 20);
    const std::int64_t undelayed = between(random, 0, queue);
    NginxZone zone(rate, queue, undelayed);
    Subject subject(LeakyBucket::create({rate, 1000, queue, undelayed, 1000}).value());
    Ticks now = 0;
    for (std::int64_t i = 0; i < kStepsPerTrace; ++i) {
      const Outcome outcome = subject.step(Call::at(now), 1);
      const Ticks delay = zone.request(now);
      ASSERT_EQ(outcome.admitted, delay >= 0);
      ASSERT_EQ(outcome.delay, std::max<Ticks>(0, delay));
      now += one_in(random, 2) ? 0 : between(random, 0, 3000 / rate);
    }
  });
}

}  // namespace
}  // namespace weir::limit
