// SPDX-License-Identifier: Apache-2.0
//
// The look-up table: cached, absent, expired, the database down and back, changes, and starts with nothing to ask.
// Redis between them is tested with real servers in tests/gateway.
#include "weir/lookup/directory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "weir/lookup/testing/shared_source.h"

namespace weir::lookup {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::partner;
using testing::plan_of;
using testing::record;
using testing::SharedSource;

// As the directory's threads need it: it only moves when it is told to.
class SteppedClock final : public Clock {
 public:
  Instant now() const override { return Instant(nanoseconds(now_.load())); }
  WallTime wall() const override { return WallTime(nanoseconds(now_.load())); }
  void advance(nanoseconds by) { now_.fetch_add(by.count()); }

 private:
  std::atomic<std::int64_t> now_{3'600'000'000'000};
};

class DirectoryTest : public ::testing::Test {
 protected:
  DirectoryTest() {
    std::string pattern = (fs::temp_directory_path() / "weir-directory-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~DirectoryTest() override {
    source.hold(false);
    directory.reset();
    fs::remove_all(folder_);
  }
  void start(bool with_snapshot = false) {
    directory.reset();
    const std::string snapshot = with_snapshot ? (folder_ / "snapshot").string() : "";
    directory = std::make_unique<Directory>(
        clock,
        Directory::Settings{
            .lifetimes = {}, .most = 1000, .readers = 2, .poll = std::chrono::hours(1), .snapshot = snapshot},
        [this] { return source.open(); }, [](auto) { return nullptr; });
    while (directory->stats().revision < 0 && !down_) std::this_thread::yield();
  }
  void set_down(bool down) {
    down_ = down;
    source.fail(down);
  }
  bool look_up(const partners::Subject& subject) {
    std::promise<bool> done;
    directory->want(subject, [&](const KnownPtr& known) { done.set_value(known != nullptr); });
    return done.get_future().get();
  }
  std::string plan(const std::string& name) {
    const Found found = directory->find(partner(name), clock.now());
    return found.known == nullptr ? "unknown" : plan_of(found.known->record);
  }
  Freshness freshness(const std::string& name) { return directory->find(partner(name), clock.now()).freshness; }
  void await_change(std::int64_t revision) {
    directory->announce();
    while (directory->stats().revision < revision) std::this_thread::yield();
  }

  fs::path folder_;
  SteppedClock clock;
  SharedSource source;
  std::unique_ptr<Directory> directory;
  bool down_ = false;
};

TEST_F(DirectoryTest, WhatIsLookedUpIsKnownAfterwards) {
  source.put(partner("acme"), record("acme", "gold"));
  start();
  EXPECT_EQ(plan("acme"), "unknown");
  EXPECT_TRUE(look_up(partner("acme")));
  EXPECT_EQ(plan("acme"), "gold");
  EXPECT_EQ(freshness("acme"), Freshness::kFresh);
}

TEST_F(DirectoryTest, AbsenceIsKnownToo) {
  start();
  EXPECT_TRUE(look_up(partner("nobody")));
  EXPECT_EQ(plan("nobody"), "absent");
  clock.advance(seconds(11));
  EXPECT_EQ(freshness("nobody"), Freshness::kExpired);
}

TEST_F(DirectoryTest, ManyWhoWaitForTheSameAreOneQuestion) {
  source.put(partner("acme"), record("acme", "gold"));
  start();
  source.hold(true);
  std::atomic<int> done{0};
  for (int i = 0; i < 100; ++i)
    directory->want(partner("acme"), [&](const KnownPtr& known) { done += known != nullptr ? 1 : 0; });
  source.await_held(1);
  source.hold(false);
  while (done < 100) std::this_thread::yield();
  EXPECT_EQ(source.reads(), 1U);
}

TEST_F(DirectoryTest, WhatIsWantedMeanwhileIsReadTogether) {
  start();
  source.hold(true);
  std::atomic<int> done{0};
  const auto want = [&](int i) {
    directory->want(partner(std::to_string(i)), [&](const KnownPtr& known) { done += known != nullptr ? 1 : 0; });
  };
  want(0);
  source.await_held(1);
  want(1);
  source.await_held(2);  // both connections are busy
  for (int i = 2; i < 202; ++i) want(i);
  source.hold(false);
  while (done < 202) std::this_thread::yield();
  EXPECT_LE(source.reads(), 4U);
}

TEST_F(DirectoryTest, WhatExpiresIsLookedUpAgain) {
  source.put(partner("acme"), record("acme", "gold"));
  start();
  look_up(partner("acme"));
  clock.advance(seconds(61));
  EXPECT_EQ(freshness("acme"), Freshness::kExpired);
  EXPECT_TRUE(look_up(partner("acme")));
  EXPECT_EQ(freshness("acme"), Freshness::kFresh);
}

TEST_F(DirectoryTest, WhatIsInUseIsLookedUpBeforeItExpires) {
  source.put(partner("acme"), record("acme", "gold"));
  start();
  look_up(partner("acme"));
  for (int i = 0; i < 600; ++i) {  // ten minutes of use
    clock.advance(seconds(1));
    const Freshness seen = freshness("acme");
    EXPECT_NE(seen, Freshness::kExpired);
    if (seen == Freshness::kDue) look_up(partner("acme"));  // until what was asked for in the background is there
  }
  EXPECT_GE(source.reads(), 9U);
  EXPECT_LE(source.reads(), 30U);
}

TEST_F(DirectoryTest, WhenTheDatabaseFailsWhatWasKnownLastHolds) {
  source.put(partner("acme"), record("acme", "gold"));
  start();
  look_up(partner("acme"));
  set_down(true);
  clock.advance(std::chrono::days(3));
  EXPECT_EQ(freshness("acme"), Freshness::kExpired);
  EXPECT_FALSE(look_up(partner("acme")));
  EXPECT_EQ(plan("acme"), "gold");
  EXPECT_FALSE(directory->stats().up);
}

TEST_F(DirectoryTest, WhileTheDatabaseIsAwayNobodyWaitsForIt) {
  start();
  set_down(true);
  EXPECT_FALSE(look_up(partner("acme")));
  source.hold(true);  // whoever is read for now waits for ever
  EXPECT_FALSE(look_up(partner("acme")));
  clock.advance(Reader::kRestAfterFailure);
  std::promise<bool> probe;
  directory->want(partner("probe"), [&](const KnownPtr& known) { probe.set_value(known != nullptr); });
  source.await_held(1);
  EXPECT_FALSE(look_up(partner("acme"))) << "one is enough to find out";
  EXPECT_FALSE(look_up(partner("other")));
  set_down(false);
  source.hold(false);
  EXPECT_TRUE(probe.get_future().get());
  EXPECT_TRUE(look_up(partner("acme")));
  EXPECT_TRUE(directory->stats().up);
}

TEST_F(DirectoryTest, AChangeIsInForceAsSoonAsItIsNoticed) {
  source.put(partner("acme"), record("acme", "gold"));
  start();
  look_up(partner("acme"));
  await_change(source.put(partner("acme"), record("acme", "free")));
  while (plan("acme") != "free") std::this_thread::yield();
  EXPECT_EQ(freshness("acme"), Freshness::kFresh);
  await_change(source.put(partner("acme"), {}));
  while (plan("acme") != "absent") std::this_thread::yield();
}

TEST_F(DirectoryTest, WhoWasAbsentIsFoundAfterTheChange) {
  start();
  look_up(partner("acme"));
  EXPECT_EQ(plan("acme"), "absent");
  await_change(source.put(partner("acme"), record("acme", "gold")));
  while (plan("acme") != "gold") std::this_thread::yield();
}

TEST_F(DirectoryTest, AChangeThatCannotBeReadYetLeavesWhatWasKnown) {
  source.put(partner("acme"), record("acme", "gold"));
  start();
  look_up(partner("acme"));
  source.hold(true);
  await_change(source.put(partner("acme"), record("acme", "free")));
  EXPECT_EQ(plan("acme"), "gold");
  EXPECT_EQ(freshness("acme"), Freshness::kExpired);
  source.hold(false);
  while (plan("acme") != "free") std::this_thread::yield();
}

TEST_F(DirectoryTest, AProcessStartsWithWhatTheOneBeforeKnew) {
  source.put(partner("acme"), record("acme", "gold"));
  start(/*with_snapshot=*/true);
  look_up(partner("acme"));
  set_down(true);
  start(/*with_snapshot=*/true);
  EXPECT_FALSE(look_up(partner("acme")));
  EXPECT_EQ(plan("acme"), "gold");
  EXPECT_FALSE(look_up(partner("other")));
  EXPECT_EQ(plan("other"), "unknown");
  source.put(partner("acme"), record("acme", "free"));
  set_down(false);
  clock.advance(Reader::kRestAfterFailure);
  EXPECT_TRUE(look_up(partner("acme")));
  EXPECT_EQ(plan("acme"), "free");
}

TEST_F(DirectoryTest, WhoeverOnlyLooksLeavesTheSnapshotAsItIs) {
  source.put(partner("acme"), record("acme", "gold"));
  start(/*with_snapshot=*/true);
  look_up(partner("acme"));
  start(/*with_snapshot=*/true);
  source.put(partner("acme"), record("acme", "free"));
  directory = std::make_unique<Directory>(
      clock,
      Directory::Settings{.lifetimes = {},
                          .most = 1000,
                          .readers = 1,
                          .poll = std::chrono::hours(1),
                          .snapshot = (folder_ / "snapshot").string(),
                          .snapshot_every = {}},
      [this] { return source.open(); }, [](auto) { return nullptr; });
  EXPECT_TRUE(look_up(partner("acme")));
  EXPECT_EQ(plan("acme"), "free");
  set_down(true);
  start(/*with_snapshot=*/true);
  EXPECT_EQ(plan("acme"), "gold");
}

TEST_F(DirectoryTest, KeysThatAreMadeUpAreRefusedBeforeTheyCrowdOutTheRest) {
  source.put(partner("acme"), record("acme", "gold"));
  start();
  source.hold(true);
  std::atomic<int> refused{0};
  for (std::size_t i = 0; i < Reader::kMostWanted + 1000; ++i) {
    directory->want({partners::Subject::Kind::kKey, std::to_string(i)},
                    [&](const KnownPtr& known) { refused += known != nullptr ? 0 : 1; });
  }
  EXPECT_GT(refused, 400);
  std::promise<bool> found;
  directory->want(partner("acme"), [&](const KnownPtr& known) { found.set_value(known != nullptr); });
  source.hold(false);
  EXPECT_TRUE(found.get_future().get());
  directory.reset();  // whoever waits still counts
}

TEST_F(DirectoryTest, ADatabaseThatWasSetBackIsBelieved) {
  source.put(partner("acme"), record("acme", "gold"));
  start();
  for (int i = 0; i < 5; ++i) await_change(source.put(partner("acme"), record("acme", std::to_string(i))));
  look_up(partner("acme"));
  source.replace_by_another();
  source.put(partner("acme"), record("acme", "restored"));
  directory->announce();
  while (directory->stats().revision != 1) std::this_thread::yield();
  EXPECT_TRUE(look_up(partner("acme")));
  EXPECT_EQ(plan("acme"), "restored");
}

TEST_F(DirectoryTest, WhoeverWaitsAtTheEndIsTold) {
  start();
  source.hold(true);
  std::atomic<int> done{0};
  for (int i = 0; i < 10; ++i) directory->want(partner(std::to_string(i)), [&](const KnownPtr&) { ++done; });
  source.await_held(1);
  std::thread ending([&] { directory.reset(); });
  source.hold(false);
  ending.join();
  EXPECT_EQ(done, 10);
}

}  // namespace
}  // namespace weir::lookup
