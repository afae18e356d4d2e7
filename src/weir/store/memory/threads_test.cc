// SPDX-License-Identifier: Apache-2.0
//
// However many threads ask, exactly as much is admitted as one thread would be: for every algorithm, on one account
// and on many, with calls that are refused by another limit in between.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "weir/store/memory/memory_store.h"

namespace weir::store {
namespace {

using limit::Cost;
using limit::Limit;
using limit::Outcome;

constexpr limit::Ticks kHour = limit::Ticks{3600} * 1'000'000'000;
constexpr Cost kCapacity = 2'000;

struct Algorithm {
  const char* name;
  Limit limit;
};

void PrintTo(const Algorithm& algorithm, std::ostream* out) { *out << algorithm.name; }

std::vector<Algorithm> algorithms() {
  const limit::Alignment hourly{.window = kHour};
  const auto month = limit::CivilCalendar::create({.unit = limit::CivilCalendar::Unit::kMonth}).value();
  return {
      {"token_bucket", limit::TokenBucket::create({.count = 1, .period = kHour, .capacity = kCapacity}).value()},
      {"token_bucket_of_two_words",
       limit::TokenBucket::create({.count = 999'983, .period = 400 * kHour, .capacity = kCapacity}).value()},
      {"fixed_window", limit::FixedWindow::create({.capacity = kCapacity, .alignment = hourly}).value()},
      {"sliding_window", limit::SlidingWindow::create({.capacity = kCapacity, .alignment = hourly}).value()},
      {"sliding_log", limit::SlidingLog::create({.capacity = kCapacity, .window = kHour}).value()},
      {"leaky_bucket", limit::LeakyBucket::create({.count = 1, .period = kHour, .queue = kCapacity - 1}).value()},
      {"concurrency", limit::Concurrency::create({.capacity = kCapacity, .lease = kHour}).value()},
      {"calendar", limit::CalendarQuota::create({.capacity = kCapacity}, month).value()},
  };
}

class ThreadsTest : public testing::TestWithParam<std::tuple<Algorithm, int>> {
 protected:
  const Limit& limit() const { return std::get<0>(GetParam()).limit; }
  static limit::Call call_of(std::uint64_t request) {
    return {.now = kHour, .wall = kHour, .lease = {.low = request, .high = 1}};
  }
  // Runs `work(thread, request)` for `requests` requests, which the threads share.
  template <class Work>
  static void run(std::uint64_t requests, Work work) {
    const auto threads = static_cast<std::uint64_t>(std::get<1>(GetParam()));
    std::vector<std::thread> running;
    for (std::uint64_t thread = 0; thread < threads; ++thread) {
      running.emplace_back([=] {
        for (std::uint64_t i = thread; i < requests; i += threads) work(i + 1);
      });
    }
    for (std::thread& one : running) one.join();
  }

  MemoryStore store_{{.max_accounts = 1'000'000, .key = {{1, 2}}}};
};

TEST_P(ThreadsTest, OneAccountAdmitsExactlyItsCapacity) {
  const auto kind = store_.adopt({.kind = "kind", .slots = {{"a", {limit()}}}});
  const Fingerprint subject = store_.subject("one");
  std::atomic<Cost> admitted{0};
  run(2 * kCapacity, [&](std::uint64_t request) {
    std::array<Outcome, 1> outcomes;
    if (store_.acquire(kind, subject, std::array{Charge{}}, call_of(request), outcomes)) ++admitted;
  });
  EXPECT_EQ(admitted.load(), kCapacity);
}

TEST_P(ThreadsTest, ManyAccountsAdmitExactlyTheirCapacity) {
  constexpr std::uint64_t kSubjects = 50;
  constexpr Cost kCost = 400;  // five requests of 400 fit into each
  const bool by_one = limit().holds<limit::LeakyBucket>();
  const Cost cost = by_one ? 1 : kCost;
  const Cost expected = by_one ? 20 : kCapacity / kCost;
  const auto kind = store_.adopt({.kind = "kind", .slots = {{"a", {limit()}}}});
  std::atomic<Cost> admitted{0};
  run(kSubjects * 20, [&](std::uint64_t request) {
    std::array<Outcome, 1> outcomes;
    const Fingerprint subject = store_.subject(std::to_string(request % kSubjects));
    if (store_.acquire(kind, subject, std::array{Charge{.cost = cost}}, call_of(request), outcomes)) ++admitted;
  });
  EXPECT_EQ(admitted.load(), expected * static_cast<Cost>(kSubjects));
}

TEST_P(ThreadsTest, WhatAnotherLimitRefusesIsNeverTaken) {
  const Limit other = limit::FixedWindow::create({.capacity = kCapacity / 4, .alignment = {.window = kHour}}).value();
  const auto kind = store_.adopt({.kind = "kind", .slots = {{"a", {limit()}}, {"b", {other}}}});
  const Fingerprint subject = store_.subject("one");
  std::atomic<Cost> admitted{0};
  run(2 * kCapacity, [&](std::uint64_t request) {
    std::array<Outcome, 2> outcomes;
    const std::array charges{Charge{.slot = 0}, Charge{.slot = 1}};
    if (store_.acquire(kind, subject, charges, call_of(request), outcomes)) ++admitted;
  });
  EXPECT_EQ(admitted.load(), kCapacity / 4);
  std::array<Outcome, 1> peeked;
  store_.acquire(kind, subject, std::array{Charge{.cost = 0}}, call_of(1), peeked);
  EXPECT_EQ(peeked[0].remaining, kCapacity - kCapacity / 4);
}

TEST_P(ThreadsTest, WhatIsGivenBackCanBeTakenAgain) {
  const auto kind = store_.adopt({.kind = "kind", .slots = {{"a", {limit()}}}});
  const Fingerprint subject = store_.subject("one");
  std::atomic<Cost> kept{0};
  run(4 * kCapacity, [&](std::uint64_t request) {
    std::array<Outcome, 1> outcomes;
    if (!store_.acquire(kind, subject, std::array{Charge{}}, call_of(request), outcomes)) return;
    if (request % 2 == 0) {
      ++kept;
    } else {
      store_.adjust(kind, subject, std::array{Adjustment{.by = -1, .at = outcomes[0].at}}, call_of(request));
    }
  });
  std::array<Outcome, 1> peeked;
  store_.acquire(kind, subject, std::array{Charge{.cost = 0}}, call_of(1), peeked);
  EXPECT_EQ(peeked[0].remaining, kCapacity - kept.load());
}

std::string name_of(const testing::TestParamInfo<ThreadsTest::ParamType>& info) {
  return std::string(std::get<0>(info.param).name) + "_by_" + std::to_string(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(EveryAlgorithm, ThreadsTest,
                         testing::Combine(testing::ValuesIn(algorithms()), testing::Values(1, 2, 8)), name_of);

}  // namespace
}  // namespace weir::store
