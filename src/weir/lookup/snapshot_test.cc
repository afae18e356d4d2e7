// SPDX-License-Identifier: Apache-2.0
#include "weir/lookup/snapshot.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "weir/lookup/testing/shared_source.h"

namespace weir::lookup {
namespace {

namespace fs = std::filesystem;
using testing::partner;
using testing::plan_of;
using testing::record;

constexpr Lifetimes kLifetimes{};
constexpr Instant kNow{std::chrono::hours(1)};

class SnapshotTest : public ::testing::Test {
 protected:
  SnapshotTest() {
    std::string pattern = (fs::temp_directory_path() / "weir-snapshot-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    path_ = folder_ / "policies.snapshot";
    before_.put(partner("acme"), record("acme", "gold", 2), 7, kNow);
    before_.put(partner("with space"), record("with space", "free"), 8, kNow);
    before_.put(partner("nobody"), {}, 9, kNow);
  }
  ~SnapshotTest() override { fs::remove_all(folder_); }
  std::string content() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }
  void rewrite(const std::string& text) const { std::ofstream(path_) << text; }

  fs::path folder_;
  fs::path path_;
  Cache before_{1000, kLifetimes};
  Cache after_{1000, kLifetimes};
};

TEST_F(SnapshotTest, WhatWasKnownIsKnownAgain) {
  ASSERT_TRUE(write_snapshot(path_, before_));
  const auto read = read_snapshot(path_, after_);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, 2U) << "absence is not kept";
  const Found acme = after_.find(partner("acme"), kNow);
  ASSERT_NE(acme.known, nullptr);
  EXPECT_EQ(acme.freshness, Freshness::kExpired);
  EXPECT_EQ(acme.known->record, record("acme", "gold", 2));
  EXPECT_EQ(plan_of(after_.find(partner("with space"), kNow).known->record), "free");
  EXPECT_FALSE(after_.put(partner("acme"), record("acme", "older"), 6, kNow)) << "its revision is kept";
}

TEST_F(SnapshotTest, NobodyElseMayReadIt) {
  ASSERT_TRUE(write_snapshot(path_, before_));
  struct stat status{};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST_F(SnapshotTest, NoFileHasNothing) { EXPECT_EQ(read_snapshot(path_, after_).value(), 0U); }

TEST_F(SnapshotTest, HalfAFileIsNotBelieved) {
  ASSERT_TRUE(write_snapshot(path_, before_));
  const std::string whole = content();
  for (std::size_t size = 0; size + 1 < whole.size(); size += 7) {
    rewrite(whole.substr(0, size));
    EXPECT_FALSE(read_snapshot(path_, after_)) << size;
  }
  std::string changed = whole;
  changed[whole.find("gold")] = 'c';
  rewrite(changed);
  EXPECT_FALSE(read_snapshot(path_, after_));
  EXPECT_EQ(after_.size(), 0U);
}

TEST_F(SnapshotTest, WhatCannotBeWrittenLeavesTheOldOne) {
  ASSERT_TRUE(write_snapshot(path_, before_));
  fs::create_directories(folder_ / "policies.snapshot.new" / "in the way");
  const auto written = write_snapshot(path_, after_);
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find(path_.string()), std::string::npos);
  EXPECT_EQ(read_snapshot(path_, after_).value(), 2U);
}

}  // namespace
}  // namespace weir::lookup
