// SPDX-License-Identifier: Apache-2.0
//
// Leases among workers that crash, come back late, and say everything twice.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "weir/limit/concurrency.h"
#include "weir/limit/testing/random_trace.h"
#include "weir/limit/testing/subject.h"

namespace weir::limit {
namespace {

struct ConcurrencyProperty : LimitProperty {};

INSTANTIATE_TEST_SUITE_P(Every, ConcurrencyProperty, testing::Values(Kind::kConcurrency), name_of_param);

// What each worker knows of itself, and when its lease must have ended.
class Workers {
 public:
  Workers(const Limit& limit, RandomTrace& trace)
      : limit_(limit), numbers_(std::get<Concurrency>(limit.algorithm()).numbers()), trace_(trace), subject_(limit) {}

  void act() {
    now_ += one_in(trace_.random(), 2) ? 0 : between(trace_.random(), 0, numbers_.lease / 3 + 1);
    if (one_in(trace_.random(), 20)) now_ += numbers_.lease;  // nobody is heard of for a while
    const auto id = static_cast<std::uint64_t>(between(trace_.random(), 1, 12));
    switch (between(trace_.random(), 0, 5)) {
      case 0:
        return release(id);
      case 1:
        return renew(id);
      default:
        return acquire(id);
    }
  }

  Cost held() const {
    Cost sum = 0;
    for (const auto& [id, worker] : workers_) sum += is_alive(worker) ? worker.cost : 0;
    return sum;
  }

  void expect_no_more_than_the_capacity() const {
    ASSERT_LE(held(), numbers_.capacity);
    ASSERT_EQ(subject_.peek(call(0)).remaining, numbers_.capacity - held());
  }

 private:
  struct Worker {
    Cost cost = 0;
    Ticks ends_at = 0;
  };
  bool is_alive(const Worker& worker) const { return worker.ends_at > now_; }
  Call call(std::uint64_t id) const { return {.now = now_, .wall = now_, .lease = {.low = id}}; }

  // Also for those that hold a lease already.
  void acquire(std::uint64_t id) {
    const Cost cost = between(trace_.random(), 1, std::max<Cost>(1, numbers_.capacity / 3));
    Worker& worker = workers_[id];
    const bool fits = is_alive(worker) || held() + cost <= numbers_.capacity;
    ASSERT_EQ(subject_.step(call(id), cost).admitted, fits);
    if (fits && !is_alive(worker)) worker = {cost, now_ + numbers_.lease};
  }
  // Also of those that were released before, or whose lease has ended.
  void release(std::uint64_t id) {
    const bool known = is_alive(workers_[id]);
    const auto& leases = std::get<Concurrency>(limit_.algorithm());
    ASSERT_EQ(leases.end(subject_.words(), call(id)), known);
    workers_[id] = {};
  }
  // Also too late.
  void renew(std::uint64_t id) {
    Worker& worker = workers_[id];
    ASSERT_EQ(subject_.renew(call(id)), is_alive(worker));
    if (is_alive(worker)) worker.ends_at = now_ + numbers_.lease;
  }

  const Limit& limit_;
  Concurrency::Numbers numbers_;
  RandomTrace& trace_;
  Subject subject_;
  Ticks now_ = 0;
  std::map<std::uint64_t, Worker> workers_;
};

TEST_P(ConcurrencyProperty, NeverMoreIsHeldThanTheCapacityWhateverWorkersDo) {
  for_each_trace([](const Limit& limit, RandomTrace& trace) {
    Workers workers(limit, trace);
    for (std::int64_t i = 0; i < kStepsPerTrace && !HasFatalFailure(); ++i) {
      workers.act();
      workers.expect_no_more_than_the_capacity();
    }
  });
}

}  // namespace
}  // namespace weir::limit
