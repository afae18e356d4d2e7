// SPDX-License-Identifier: Apache-2.0
#include "weir/store/limit_book.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "weir/store/memory/memory_store.h"

namespace weir::store {
namespace {

using limit::Cost;
using limit::Limit;
using limit::Outcome;
using limit::Ticks;

constexpr Ticks kSecond = 1'000'000'000;
constexpr Ticks kHour = 3600 * kSecond;

Limit bucket(Cost capacity) {
  return limit::TokenBucket::create({.count = 1, .period = kHour, .capacity = capacity}).value();
}
Limit window(Cost capacity, bool jitter = false) {
  return limit::FixedWindow::create({.capacity = capacity, .alignment = {.window = kHour, .jitter = jitter}}).value();
}
Limit log(Cost capacity) { return limit::SlidingLog::create({.capacity = capacity, .window = kHour}).value(); }
Limit queue(std::int64_t places) {
  return limit::LeakyBucket::create({.count = 1, .period = kSecond, .queue = places}).value();
}
Limit places(Cost capacity) {
  return limit::Concurrency::create({.capacity = capacity, .lease = 30 * kSecond}).value();
}

Layout layout_of(const LimitBook& book) {
  return {.kind = "kind", .slots = {{.identity = "a", .variants = {}, .book = &book}}};
}

class LimitBookTest : public ::testing::Test {
 protected:
  bool take(const MemoryStore::Kind& kind, std::uint32_t variant, Cost cost) {
    const std::array<Charge, 1> charges{{{.variant = variant, .cost = cost}}};
    return store_.acquire(kind, store_.subject("s"), charges, {.now = 0, .wall = 0, .phase = 0, .lease = {1, 1}},
                          now_);
  }
  Cost remaining() const { return now_[0].remaining; }
  // Its records name limits of the book, so it goes first.
  LimitBook& book_of(const Limit& first) { return *books_.emplace_back(std::make_unique<LimitBook>(first)); }

  std::vector<std::unique_ptr<LimitBook>> books_;
  MemoryStore store_{{.max_accounts = 1000}};
  std::array<Outcome, 1> now_;
};

TEST_F(LimitBookTest, NumbersAndReferencesStayWhileItGrows) {
  LimitBook& book = book_of(bucket(1));
  const Limit& second = book[*book.add(bucket(2))];
  for (Cost capacity = 3; capacity <= 5000; ++capacity) {
    ASSERT_EQ(book.add(bucket(capacity)), static_cast<std::uint32_t>(capacity - 1));
  }
  EXPECT_EQ(&second, &book[1]);
  EXPECT_EQ(book.size(), 5000U);
  for (Cost capacity = 1; capacity <= 5000; ++capacity) {
    ASSERT_EQ(book[static_cast<std::uint32_t>(capacity - 1)].capacity(), capacity);
  }
}

TEST_F(LimitBookTest, WhatIsAddedIsReadByOthersMeanwhile) {
  LimitBook& book = book_of(bucket(1));
  std::atomic<bool> done{false};
  std::thread reading([&] {
    while (!done) {
      const std::uint32_t size = book.size();
      ASSERT_EQ(book[size - 1].capacity(), size);
    }
  });
  for (Cost capacity = 2; capacity <= 20'000; ++capacity) book.add(bucket(capacity));
  done = true;
  reading.join();
}

TEST_F(LimitBookTest, OneLayoutHoldsAllOfASort) {
  EXPECT_TRUE(LimitBook(bucket(1)).takes(window(5)));
  EXPECT_FALSE(LimitBook(bucket(1)).takes(window(5, /*jitter=*/true)));
  EXPECT_TRUE(LimitBook(window(1, /*jitter=*/true)).takes(window(5, /*jitter=*/true)));
  EXPECT_TRUE(LimitBook(window(1, /*jitter=*/true)).takes(bucket(5)));
  for (const Limit& other : {log(1), queue(1), places(1)}) {
    EXPECT_FALSE(LimitBook(bucket(1)).takes(other));
    EXPECT_FALSE(LimitBook(other).takes(bucket(1)));
  }
  EXPECT_TRUE(LimitBook(log(1)).takes(log(9)));
  EXPECT_TRUE(LimitBook(queue(1)).takes(queue(9)));
  EXPECT_FALSE(LimitBook(log(1)).takes(places(1)));
}

TEST_F(LimitBookTest, ALimitThatBecomesKnownLaterCountsWhatWasUsedBefore) {
  LimitBook& book = book_of(bucket(10));
  const auto kind = store_.adopt(layout_of(book));
  EXPECT_TRUE(take(kind, 0, 7));
  const std::uint32_t larger = *book.add(bucket(100));
  EXPECT_TRUE(take(kind, larger, 1));
  EXPECT_EQ(remaining(), 92);
  const std::uint32_t smaller = *book.add(bucket(8));
  EXPECT_FALSE(take(kind, smaller, 1));
  EXPECT_TRUE(take(kind, larger, 0));
  EXPECT_EQ(remaining(), 92);
}

TEST_F(LimitBookTest, AnotherAlgorithmStartsAfresh) {
  LimitBook& book = book_of(bucket(10));
  const std::uint32_t hourly = *book.add(window(5));
  const auto kind = store_.adopt(layout_of(book));
  EXPECT_TRUE(take(kind, 0, 10));
  EXPECT_TRUE(take(kind, hourly, 5));
  EXPECT_FALSE(take(kind, hourly, 1));
}

TEST_F(LimitBookTest, ListsGrowAndShrinkWithTheLimit) {
  LimitBook& book = book_of(log(3));
  const std::uint32_t larger = *book.add(log(5));
  const auto kind = store_.adopt(layout_of(book));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(take(kind, 0, 1));
  EXPECT_FALSE(take(kind, 0, 1));
  EXPECT_TRUE(take(kind, larger, 2));
  EXPECT_FALSE(take(kind, larger, 1));
  store_.reset(kind, store_.subject("s"));
  EXPECT_TRUE(take(kind, larger, 5));
}

TEST_F(LimitBookTest, AReloadKeepsWhatIsCounted) {
  LimitBook& book = book_of(bucket(10));
  const std::uint32_t larger = *book.add(bucket(100));
  const auto before = store_.adopt(layout_of(book));
  EXPECT_TRUE(take(before, larger, 60));
  Layout wider = layout_of(book);
  wider.slots.insert(wider.slots.begin(), {.identity = "b", .variants = {bucket(5)}});
  const auto after = store_.adopt(wider);
  const std::array<Charge, 2> charges{{{.slot = 0, .cost = 1}, {.slot = 1, .variant = larger, .cost = 1}}};
  std::array<Outcome, 2> outcomes;
  EXPECT_TRUE(store_.acquire(after, store_.subject("s"), charges, {}, outcomes));
  EXPECT_EQ(outcomes[1].remaining, 39);
  EXPECT_TRUE(take(before, larger, 1)) << "who still has the old layout counts in the new one";
  EXPECT_EQ(remaining(), 38);
}

}  // namespace
}  // namespace weir::store
