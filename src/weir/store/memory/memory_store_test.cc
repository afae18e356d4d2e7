// SPDX-License-Identifier: Apache-2.0
#include "weir/store/memory/memory_store.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace weir::store {
namespace {

using limit::Cost;
using limit::Outcome;
using limit::Ticks;

constexpr Ticks kSecond = 1'000'000'000;
constexpr Ticks kHour = 3600 * kSecond;

limit::Limit bucket(std::int64_t count, Ticks period, Cost capacity) {
  return limit::TokenBucket::create({.count = count, .period = period, .capacity = capacity}).value();
}

Layout layout(std::vector<Slot> slots) { return {.kind = "kind", .slots = std::move(slots)}; }

class MemoryStoreTest : public testing::Test {
 protected:
  static constexpr FingerprintKey kKey{{1, 2}};

  // Takes `cost` from slot 0.
  static bool take(MemoryStore& store, const MemoryStore::Kind& kind, const Fingerprint& subject, Cost cost,
                   Ticks now = 0) {
    const std::array<Charge, 1> charges{{{.cost = cost}}};
    std::array<Outcome, 1> outcomes;
    return store.acquire(kind, subject, charges, limit::Call::at(now), outcomes);
  }
  static Outcome peek(MemoryStore& store, const MemoryStore::Kind& kind, const Fingerprint& subject, Ticks now = 0) {
    const std::array<Charge, 1> charges{{{.cost = 0}}};
    std::array<Outcome, 1> outcomes;
    store.acquire(kind, subject, charges, limit::Call::at(now), outcomes);
    return outcomes[0];
  }
  static std::size_t sweep_all(MemoryStore& store, Ticks now) {
    std::size_t dropped = 0;
    for (std::size_t i = 0; i < store.shards(); ++i) dropped += store.sweep(limit::Call::at(now));
    return dropped;
  }
  static void run_threads(int count, const std::function<void(int)>& work) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) threads.emplace_back(work, i);
    for (std::thread& thread : threads) thread.join();
  }

  MemoryStore store_{{.max_accounts = 1'000'000, .key = kKey}};
};

TEST_F(MemoryStoreTest, OnlyAnAdmittedCostAboveZeroCreatesARecord) {
  const auto kind = store_.adopt(layout({{"a", {bucket(5, kSecond, 5)}}}));
  peek(store_, kind, store_.subject("a"));
  EXPECT_FALSE(take(store_, kind, store_.subject("b"), 6));
  EXPECT_EQ(store_.stats().accounts, 0);
  EXPECT_TRUE(take(store_, kind, store_.subject("c"), 1));
  EXPECT_TRUE(take(store_, kind, store_.subject("c"), 1));
  EXPECT_EQ(store_.stats().accounts, 1);
  store_.reset(kind, store_.subject("c"));
  EXPECT_EQ(store_.stats().accounts, 0);
}

TEST_F(MemoryStoreTest, TheFingerprintOfZerosIsASubjectLikeAnyOther) {
  const auto kind = store_.adopt(layout({{"a", {bucket(5, kSecond, 5)}}}));
  for (const Fingerprint subject :
       {Fingerprint{0, 0}, Fingerprint{0, 1}, Fingerprint{1, 0}, Fingerprint{~0UL, ~0UL}}) {
    EXPECT_TRUE(take(store_, kind, subject, 5));
    EXPECT_FALSE(take(store_, kind, subject, 1));
  }
  EXPECT_EQ(store_.stats().accounts, 4);
}

TEST_F(MemoryStoreTest, APrefetchMayComeAtAnyTimeAndChangesNothing) {
  const auto kind = store_.adopt(layout({{"a", {bucket(5, kSecond, 5)}}}));
  store_.prefetch(kind, store_.subject("a"));
  EXPECT_EQ(store_.stats().accounts, 0);
  take(store_, kind, store_.subject("a"), 2);
  store_.prefetch(kind, store_.subject("a"));
  EXPECT_EQ(peek(store_, kind, store_.subject("a")).remaining, 3);
}

TEST_F(MemoryStoreTest, ManySubjectsKeepTheirOwnCounts) {
  const auto kind = store_.adopt(layout({{"a", {bucket(1, kHour, 1000)}}, {"b", {bucket(1, kHour, 1000)}}}));
  constexpr int kSubjects = 50'000;
  const auto subject = [&](int i) { return store_.subject(std::to_string(i)); };
  for (int i = 0; i < kSubjects; ++i) ASSERT_TRUE(take(store_, kind, subject(i), i % 1000 + 1));
  for (int i = 0; i < kSubjects; i += 3) store_.reset(kind, subject(i));
  for (int i = 0; i < kSubjects; ++i) {
    ASSERT_EQ(peek(store_, kind, subject(i)).remaining, i % 3 == 0 ? 1000 : 999 - i % 1000) << i;
  }
  EXPECT_EQ(store_.stats().accounts, kSubjects - (kSubjects + 2) / 3);
}

TEST_F(MemoryStoreTest, AKindWithFewAccountsCostsLittle) {
  const auto kind = store_.adopt(layout({{"a", {bucket(5, kSecond, 5)}}}));
  EXPECT_LT(store_.stats().bytes, 20'000);
  const std::uint64_t before = store_.stats().bytes;
  take(store_, kind, store_.subject("a"), 1);
  EXPECT_LT(store_.stats().bytes, before + 512);
}

TEST_F(MemoryStoreTest, AnAccountOfTwoLimitsTakesAtMost64Bytes) {
  const auto kind = store_.adopt(layout({{"a", {bucket(1, kHour, 9)}}, {"b", {bucket(1, kHour, 9)}}}));
  for (int i = 0; i < 200'000; ++i) {
    take(store_, kind, store_.subject(std::to_string(i)), 1);
    if (i == 10'000 || i == 50'000 || i == 199'999) {
      const auto stats = store_.stats();
      EXPECT_LE(stats.bytes, stats.accounts * 64) << i;
    }
  }
}

TEST_F(MemoryStoreTest, ASweepDropsOnlyWhatIsFullAgainAndGivesMemoryBack) {
  const auto kind = store_.adopt(layout({{"a", {bucket(1, kSecond, 100)}}}));
  for (int i = 0; i < 20'000; ++i) take(store_, kind, store_.subject(std::to_string(i)), i % 2 == 0 ? 1 : 50);
  EXPECT_EQ(sweep_all(store_, kSecond - 1), 0);
  const std::uint64_t before = store_.stats().bytes;
  EXPECT_EQ(sweep_all(store_, kSecond), 10'000);
  EXPECT_EQ(store_.stats().accounts, 10'000);
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_EQ(peek(store_, kind, store_.subject(std::to_string(i)), kSecond).remaining, i % 2 == 0 ? 100 : 51);
  }
  EXPECT_EQ(sweep_all(store_, 50 * kSecond), 10'000);
  EXPECT_EQ(store_.stats().accounts, 0);
  EXPECT_LT(store_.stats().bytes, before / 10);
  EXPECT_EQ(store_.stats().evictions, 0);
}

TEST_F(MemoryStoreTest, ASweepVisitsEveryKind) {
  const auto kind = store_.adopt(layout({{"a", {bucket(1, kSecond, 100)}}}));
  const auto other = store_.adopt({.kind = "other", .slots = {{"a", {bucket(1, kSecond, 100)}}}});
  take(store_, kind, store_.subject("a"), 1);
  take(store_, other, store_.subject("b"), 1);
  EXPECT_EQ(sweep_all(store_, kSecond), 2);
}

TEST_F(MemoryStoreTest, TheBoundHoldsAgainstAMillionRandomSubjects) {
  constexpr std::uint64_t kMost = 100'000;
  MemoryStore store({.max_accounts = kMost, .key = kKey});
  const auto kind = store.adopt(layout({{"a", {bucket(100, kHour, 100)}}}));
  const auto victim = store.subject("victim");
  ASSERT_TRUE(take(store, kind, victim, 100));
  for (int i = 0; i < 1'000'000; ++i) {
    ASSERT_TRUE(take(store, kind, store.subject(std::to_string(i)), 1, i));
    if (i % 10'000 == 0) {
      ASSERT_LE(store.stats().accounts, kMost);
    }
  }
  const auto stats = store.stats();
  EXPECT_EQ(stats.accounts, kMost);
  EXPECT_EQ(stats.evictions, 1'000'001 - kMost);
  EXPECT_LE(stats.bytes, kMost * 64);
  EXPECT_EQ(peek(store, kind, victim, 1'000'000).remaining, 0) << "an empty bucket is not refilled by a flood";
  EXPECT_FALSE(take(store, kind, victim, 1, 1'000'000));
}

TEST_F(MemoryStoreTest, AtTheBoundFullRecordsGoFirst) {
  MemoryStore store({.max_accounts = 1000, .key = kKey});
  const auto kind = store.adopt(layout({{"a", {bucket(1, kSecond, 100)}}}));
  for (int i = 0; i < 500; ++i) take(store, kind, store.subject("short" + std::to_string(i)), 1);
  for (int i = 0; i < 500; ++i) take(store, kind, store.subject("long" + std::to_string(i)), 100);
  for (int i = 0; i < 400; ++i) take(store, kind, store.subject("new" + std::to_string(i)), 50, kSecond);
  int survivors = 0;
  for (int i = 0; i < 500; ++i) {
    survivors += peek(store, kind, store.subject("long" + std::to_string(i)), kSecond).remaining == 1 ? 1 : 0;
  }
  EXPECT_EQ(survivors, 500);
  EXPECT_LE(store.stats().accounts, 1000);
}

TEST_F(MemoryStoreTest, AFloodOfOneKindDoesNotPushOutAnother) {
  MemoryStore store({.max_accounts = 10'000, .key = kKey});
  const auto partners = store.adopt(layout({{"a", {bucket(10, kHour, 10)}}}));
  const auto addresses = store.adopt({.kind = "address", .slots = {{"a", {bucket(10, kHour, 10)}}}});
  for (int i = 0; i < 100; ++i) take(store, partners, store.subject(std::to_string(i)), 1);
  for (int i = 0; i < 50'000; ++i) take(store, addresses, store.subject(std::to_string(i)), 10);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(peek(store, partners, store.subject(std::to_string(i))).remaining, 9);
  for (int i = 100; i < 200; ++i) ASSERT_TRUE(take(store, partners, store.subject(std::to_string(i)), 1));
  EXPECT_LE(store.stats().accounts, 10'000);
}

TEST_F(MemoryStoreTest, ABoundOfOneAccountStillDecides) {
  MemoryStore store({.max_accounts = 1, .key = kKey});
  const auto kind = store.adopt(layout({{"a", {bucket(1, kHour, 2)}}}));
  for (int i = 0; i < 100; ++i) {
    const auto subject = store.subject(std::to_string(i));
    EXPECT_TRUE(take(store, kind, subject, 2));
    EXPECT_FALSE(take(store, kind, subject, 1));
    EXPECT_EQ(store.stats().accounts, 1);
  }
}

TEST_F(MemoryStoreTest, ThreadsTogetherAreAdmittedExactlyTheLimit) {
  for (const int threads : {2, 8}) {
    MemoryStore store({.max_accounts = 1000, .key = kKey});
    const auto kind = store.adopt(layout({{"a", {bucket(1, kHour, 1000)}}, {"b", {bucket(1, kHour, 3000)}}}));
    const std::array<Charge, 2> charges{{{.slot = 0}, {.slot = 1}}};
    std::atomic<int> admitted{0};
    run_threads(threads, [&](int) {
      std::array<Outcome, 2> outcomes;
      for (int i = 0; i < 4000; ++i) {
        if (store.acquire(kind, store.subject("one"), charges, limit::Call::at(i), outcomes)) admitted.fetch_add(1);
      }
    });
    EXPECT_EQ(admitted.load(), 1000);
    const std::array<Charge, 1> second{{{.slot = 1, .cost = 0}}};
    std::array<Outcome, 1> outcome;
    store.acquire(kind, store.subject("one"), second, limit::Call::at(4000), outcome);
    EXPECT_EQ(outcome[0].remaining, 2000) << "what the first limit refused was not taken from the second";
  }
}

TEST_F(MemoryStoreTest, ThreadsOnManySubjectsAreAdmittedExactlyEveryLimit) {
  constexpr int kSubjects = 2000;
  const auto kind = store_.adopt(layout({{"a", {bucket(1, kHour, 5)}}}));
  std::atomic<int> admitted{0};
  run_threads(4, [&](int) {
    for (int i = 0; i < kSubjects * 4; ++i) {
      if (take(store_, kind, store_.subject(std::to_string(i % kSubjects)), 1)) admitted.fetch_add(1);
    }
  });
  EXPECT_EQ(admitted.load(), kSubjects * 5);
  EXPECT_EQ(store_.stats().accounts, kSubjects);
}

TEST_F(MemoryStoreTest, WhatThreadsTakeAndGiveBackAddsUp) {
  const auto kind = store_.adopt(layout({{"a", {bucket(1000, kHour, 1'000'000)}}}));
  run_threads(4, [&](int thread) {
    const std::array<Adjustment, 1> returned{{{.by = -(thread + 1)}}};
    for (int i = 0; i < 2000; ++i) {
      if (!take(store_, kind, store_.subject("one"), thread + 1)) continue;
      if (i % 2 == 0) store_.adjust(kind, store_.subject("one"), returned, {});
    }
  });
  EXPECT_EQ(peek(store_, kind, store_.subject("one")).remaining, 1'000'000 - 1000 * (1 + 2 + 3 + 4));
}

TEST_F(MemoryStoreTest, ReloadsWhileThreadsAcquireLoseNoCount) {
  const Layout narrow = layout({{"a", {bucket(1, kHour, 3000)}}});
  const Layout wide = layout({{"b", {bucket(1, kHour, 9)}}, {"a", {bucket(1, kHour, 3000), bucket(1, kHour, 4000)}}});
  const auto of_narrow = store_.adopt(narrow);
  const auto of_wide = store_.adopt(wide);
  std::atomic<int> admitted{0};
  std::atomic<bool> done{false};
  std::thread reloading([&] {
    for (int i = 0; !done.load(); ++i) {
      store_.adopt(i % 2 == 0 ? narrow : wide);
      store_.sweep({});
      store_.stats();
    }
  });
  run_threads(2, [&](int thread) {
    const auto& kind = thread == 0 ? of_narrow : of_wide;
    const std::array<Charge, 1> charges{{{.slot = static_cast<std::uint16_t>(thread == 0 ? 0 : 1)}}};
    std::array<Outcome, 1> outcomes;
    for (int i = 0; i < 20'000; ++i) {
      if (store_.acquire(kind, store_.subject(std::to_string(i % 2)), charges, {}, outcomes)) admitted.fetch_add(1);
    }
  });
  done = true;
  reloading.join();
  EXPECT_EQ(admitted.load(), 2 * 3000);
}

TEST_F(MemoryStoreTest, ExpendableAccountsNeverMakeOthersGiveWay) {
  constexpr std::uint64_t kMost = 2000;
  MemoryStore store({.max_accounts = kMost, .key = kKey});
  const auto kind = store.adopt(layout({{"a", {bucket(1, kHour, 1)}}}));
  const auto shadow = store.adopt({.kind = "shadow", .slots = {{"a", {bucket(1, kHour, 1)}}}, .expendable = true});
  const auto subject = [&](int i) { return store.subject(std::to_string(i)); };
  for (int i = 0; i < 1500; ++i) ASSERT_TRUE(take(store, kind, subject(i), 1));
  for (int i = 0; i < 5000; ++i) take(store, shadow, subject(i), 1);
  EXPECT_LE(store.stats().accounts, kMost);
  for (int i = 1500; i < 2000; ++i) ASSERT_TRUE(take(store, kind, subject(i), 1));
  for (int i = 0; i < 5000; ++i) take(store, shadow, subject(i), 1);
  EXPECT_EQ(store.stats().accounts, kMost);
  for (int i = 0; i < 2000; ++i) ASSERT_FALSE(take(store, kind, subject(i), 1)) << i;
}

TEST_F(MemoryStoreTest, TheBoundHoldsWhileThreadsFlood) {
  constexpr std::uint64_t kMost = 5000;
  MemoryStore store({.max_accounts = kMost, .key = kKey});
  const auto kind = store.adopt(layout({{"a", {bucket(10, kHour, 10)}}}));
  run_threads(4, [&](int thread) {
    for (int i = 0; i < 20'000; ++i) {
      take(store, kind, store.subject(std::to_string(thread) + "/" + std::to_string(i)), 1);
    }
  });
  EXPECT_LE(store.stats().accounts, kMost);
  EXPECT_GE(store.stats().accounts, kMost - 100);
}

TEST_F(MemoryStoreTest, AReloadConvertsEveryRecordOfAShard) {
  const auto before = store_.adopt(layout({{"a", {bucket(1, kHour, 1000)}}}));
  for (int i = 0; i < 10'000; ++i) take(store_, before, store_.subject(std::to_string(i)), i % 1000 + 1);
  const auto after = store_.adopt(
      layout({{"new", {bucket(17, kHour + 1, 5)}}, {"a", {bucket(1, kHour, 1000), bucket(2, kHour, 2000)}}}));
  sweep_all(store_, 0);
  EXPECT_EQ(store_.stats().accounts, 10'000);
  for (int i = 0; i < 10'000; ++i) {
    const std::array<Charge, 3> charges{{{.slot = 0, .cost = 5}, {.slot = 1, .variant = 1, .cost = 0}}};
    std::array<Outcome, 2> outcomes;
    ASSERT_TRUE(store_.acquire(after, store_.subject(std::to_string(i)), std::span(charges).first(2), {}, outcomes));
    ASSERT_EQ(outcomes[0].remaining, 0);
    ASSERT_EQ(outcomes[1].remaining, 1999 - i % 1000);
  }
}

}  // namespace
}  // namespace weir::store
