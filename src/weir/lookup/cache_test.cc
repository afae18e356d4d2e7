// SPDX-License-Identifier: Apache-2.0
#include "weir/lookup/cache.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "weir/lookup/testing/shared_source.h"

namespace weir::lookup {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::partner;
using testing::plan_of;
using testing::record;

constexpr Lifetimes kLifetimes{.present = seconds(60), .absent = seconds(10)};
constexpr Instant kStart{std::chrono::hours(1)};

class CacheTest : public ::testing::Test {
 protected:
  Freshness freshness(const std::string& name, Instant now) { return cache_.find(partner(name), now).freshness; }

  Cache cache_{100'000, kLifetimes};
};

TEST_F(CacheTest, WhatIsKnownAgesAndStays) {
  EXPECT_EQ(freshness("acme", kStart), Freshness::kUnknown);
  ASSERT_TRUE(cache_.put(partner("acme"), record("acme", "gold"), 1, kStart));
  EXPECT_EQ(freshness("acme", kStart), Freshness::kFresh);
  EXPECT_EQ(freshness("acme", kStart + seconds(47)), Freshness::kFresh);
  EXPECT_EQ(freshness("acme", kStart + seconds(60)), Freshness::kExpired);
  EXPECT_EQ(plan_of(cache_.find(partner("acme"), kStart + std::chrono::days(1)).known->record), "gold");
}

TEST_F(CacheTest, WhatIsUsedIsDueBeforeItExpiresAndIsToldOnce) {
  ASSERT_TRUE(cache_.put(partner("acme"), record("acme"), 1, kStart));
  int due = 0;
  Freshness seen = Freshness::kFresh;
  for (Instant now = kStart; seen != Freshness::kExpired; now += milliseconds(100)) {
    seen = freshness("acme", now);
    due += seen == Freshness::kDue ? 1 : 0;
  }
  EXPECT_GE(due, 1);
  EXPECT_LE(due, 12) << "once a second until it is looked up";
}

TEST_F(CacheTest, AbsenceIsKnownForAShorterTime) {
  ASSERT_TRUE(cache_.put(partner("nobody"), {}, 1, kStart));
  EXPECT_EQ(freshness("nobody", kStart + seconds(7)), Freshness::kFresh);
  EXPECT_TRUE(cache_.find(partner("nobody"), kStart).known->absent());
  EXPECT_EQ(freshness("nobody", kStart + seconds(10)), Freshness::kExpired);
}

TEST_F(CacheTest, WhatCameTogetherDoesNotExpireTogether) {
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(cache_.put(partner(std::to_string(i)), record("p"), 1, kStart));
  const auto expired_at = [&](nanoseconds age) {
    int expired = 0;
    for (int i = 0; i < 200; ++i) {
      expired += freshness(std::to_string(i), kStart + age) == Freshness::kExpired ? 1 : 0;
    }
    return expired;
  };
  EXPECT_EQ(expired_at(seconds(53)), 0);
  EXPECT_GT(expired_at(seconds(57)), 40);
  EXPECT_LT(expired_at(seconds(57)), 160);
  EXPECT_EQ(expired_at(seconds(60)), 200);
}

TEST_F(CacheTest, APartnerAndAPlanOfTheSameNameAreTwo) {
  ASSERT_TRUE(cache_.put(partner("gold"), record("gold"), 1, kStart));
  EXPECT_EQ(cache_.find(testing::plan("gold"), kStart).freshness, Freshness::kUnknown);
}

TEST_F(CacheTest, TheSameKnowledgeAgainStaysTheSameObject) {
  ASSERT_TRUE(cache_.put(partner("acme"), record("acme", "gold"), 1, kStart));
  const KnownPtr before = cache_.find(partner("acme"), kStart).known;
  ASSERT_TRUE(cache_.put(partner("acme"), record("acme", "gold"), 2, kStart + seconds(59)));
  EXPECT_EQ(cache_.find(partner("acme"), kStart + seconds(100)).known, before);
  EXPECT_EQ(cache_.changes(), 1U);
  ASSERT_TRUE(cache_.put(partner("acme"), record("acme", "free"), 3, kStart));
  EXPECT_NE(cache_.find(partner("acme"), kStart).known, before);
}

TEST_F(CacheTest, WhatWasReadBeforeAChangeIsNotTaken) {
  EXPECT_FALSE(cache_.expire(partner("acme"), 7)) << "nothing is known of it";
  EXPECT_FALSE(cache_.put(partner("acme"), record("acme", "old"), 6, kStart));
  EXPECT_EQ(freshness("acme", kStart), Freshness::kUnknown);
  EXPECT_TRUE(cache_.put(partner("acme"), record("acme", "new"), 7, kStart));
  EXPECT_TRUE(cache_.expire(partner("acme"), 7));
  EXPECT_EQ(freshness("acme", kStart), Freshness::kFresh) << "it is as new as the change";
  EXPECT_TRUE(cache_.expire(partner("acme"), 8));
  EXPECT_EQ(freshness("acme", kStart), Freshness::kExpired);
  EXPECT_EQ(plan_of(cache_.find(partner("acme"), kStart).known->record), "new") << "better than nothing";
  EXPECT_FALSE(cache_.put(partner("acme"), record("acme", "old"), 7, kStart));
}

TEST_F(CacheTest, WhatIsOldWhenItComesIsBelievedForTheRestOfItsLife) {
  EXPECT_FALSE(cache_.put(partner("acme"), record("acme"), 1, kStart, seconds(31))) << "it would soon be due again";
  ASSERT_TRUE(cache_.put(partner("acme"), record("acme"), 1, kStart, seconds(30)));
  EXPECT_EQ(freshness("acme", kStart + seconds(17)), Freshness::kFresh);
  EXPECT_EQ(freshness("acme", kStart + seconds(30)), Freshness::kExpired);
}

TEST_F(CacheTest, WhatIsRestoredHasExpiredAndGivesWayToWhatIsKnown) {
  cache_.restore(partner("acme"), record("acme", "then"), 5);
  EXPECT_EQ(freshness("acme", kStart), Freshness::kExpired);
  ASSERT_TRUE(cache_.put(partner("acme"), record("acme", "now"), 6, kStart));
  cache_.restore(partner("acme"), record("acme", "then"), 5);
  EXPECT_EQ(plan_of(cache_.find(partner("acme"), kStart).known->record), "now");
}

TEST_F(CacheTest, WhatIsOfALaterRevisionThanTheDatabaseGivesWay) {
  ASSERT_TRUE(cache_.put(partner("old"), record("old"), 5, kStart));
  ASSERT_TRUE(cache_.put(partner("acme"), record("acme", "lost"), 900, kStart));
  cache_.expire(partner("changed"), 901);
  cache_.rewind(10);
  EXPECT_EQ(freshness("old", kStart), Freshness::kFresh);
  EXPECT_EQ(freshness("acme", kStart), Freshness::kExpired);
  EXPECT_TRUE(cache_.put(partner("acme"), record("acme", "restored"), 10, kStart));
  EXPECT_TRUE(cache_.put(partner("changed"), record("changed"), 10, kStart));
  EXPECT_EQ(plan_of(cache_.find(partner("acme"), kStart).known->record), "restored");
}

TEST_F(CacheTest, ChangesThatGaveWayAreRememberedTogether) {
  Cache small(256 * 64, kLifetimes);
  EXPECT_EQ(small.forgotten(), 0);
  for (int i = 1; i <= 20'000; ++i) small.expire(partner(std::to_string(i)), i);
  EXPECT_GT(small.forgotten(), 1000);
  EXPECT_LE(small.forgotten(), 20'000);
}

TEST_F(CacheTest, AnotherFormIsTakenOnlyForWhatIsStillKnown) {
  ASSERT_TRUE(cache_.put(partner("acme"), record("acme"), 1, kStart));
  const KnownPtr before = cache_.find(partner("acme"), kStart).known;
  const auto compiled = std::make_shared<const Known>(Known{.record = before->record, .compiled_for = 3, .rows = {}});
  cache_.replace(partner("acme"), before, compiled);
  EXPECT_EQ(cache_.find(partner("acme"), kStart).known, compiled);
  cache_.replace(partner("acme"), before, before);
  EXPECT_EQ(cache_.find(partner("acme"), kStart).known, compiled);
}

TEST_F(CacheTest, MemoryIsBoundedAndWhatIsAskedForStays) {
  Cache small(6400, kLifetimes);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(small.put(partner("used" + std::to_string(i)), record("p"), 1, kStart));
  for (int i = 0; i < 50'000; ++i) {
    ASSERT_TRUE(small.put(partner("guess" + std::to_string(i)), {}, 1, kStart));
    if (i % 20 == 0) {
      for (int j = 0; j < 100; ++j) small.find(partner("used" + std::to_string(j)), kStart);
    }
  }
  EXPECT_LE(small.size(), 6400U);
  EXPECT_GT(small.evictions(), 40'000U);
  for (int j = 0; j < 100; ++j) {
    EXPECT_EQ(small.find(partner("used" + std::to_string(j)), kStart).freshness, Freshness::kFresh) << j;
  }
}

TEST_F(CacheTest, WhatCameLastIsThereHoweverSmallTheCache) {
  for (const std::size_t most : {1, 10, 1000, 20'000}) {
    Cache small(most, kLifetimes);
    for (int i = 0; i < 30'000; ++i) {
      const partners::Subject subject = partner(std::to_string(i));
      const auto known = small.put(subject, i % 3 == 0 ? record("p", "", i % 50) : partners::Record(), 1, kStart);
      ASSERT_NE(known, nullptr);
      ASSERT_EQ(small.find(subject, kStart).known, known) << i << " of " << most;
    }
    EXPECT_LE(small.size(), most);
  }
}

TEST_F(CacheTest, GuessesAndChangesOfStrangersMakeRoomForEachOtherAlone) {
  Cache small(20'000, kLifetimes);
  const auto known = [](int i) { return partner("known" + std::to_string(i)); };
  for (int i = 0; i < 5000; ++i) small.put(known(i), record("p"), 1, kStart);
  for (int i = 0; i < 100'000; ++i) small.put(partner("guess" + std::to_string(i)), {}, 1, kStart);
  for (int i = 0; i < 100'000; ++i) small.expire(partner("changed" + std::to_string(i)), i);
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(small.find(known(i), kStart).freshness, Freshness::kFresh) << i;
}

TEST_F(CacheTest, WhatWasReadBeforeAForgottenChangeIsNotTaken) {
  Cache small(64, kLifetimes);
  small.expire(partner("acme"), 6);
  for (int i = 0; i < 1000; ++i) small.put(partner(std::to_string(i)), {}, 6, kStart);
  EXPECT_EQ(small.put(partner("acme"), record("acme", "old"), 5, kStart), nullptr);
  EXPECT_NE(small.put(partner("acme"), record("acme", "new"), 6, kStart), nullptr);
}

TEST_F(CacheTest, WhatIsNotTakenLeavesNothingBehind) {
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(cache_.put(partner(std::to_string(i)), record("p"), 1, kStart, seconds(31)), nullptr);
  }
  EXPECT_EQ(cache_.size(), 0U);
}

TEST_F(CacheTest, ARecordWithManyRowsWeighsAsMuch) {
  Cache small(256 * 100, kLifetimes);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(small.put(partner(std::to_string(i)), record("p", "", 50), 1, kStart));
  }
  EXPECT_LE(small.size(), 256U * 2);
}

TEST_F(CacheTest, ThreadsFindWhatOthersPut) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([this, thread] {
      for (int i = 0; i < 5000; ++i) {
        const std::string name = std::to_string(i % 100);
        cache_.put(partner(name), record(name, std::to_string(thread)), i, kStart);
        if (i % 7 == 0) cache_.expire(partner(name), i);
        const Found found = cache_.find(partner(name), kStart);
        if (found.known == nullptr) continue;

        EXPECT_EQ(std::get<partners::PartnerRecord>(found.known->record).partner.name, name);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cache_.size(), 100U);
}

}  // namespace
}  // namespace weir::lookup
