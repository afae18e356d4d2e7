// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/access_log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace weir::gateway {
namespace {

namespace fs = std::filesystem;

class AccessLogTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  std::string content(const fs::path& file) const {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / ("weir-access-log-" + std::to_string(::getpid()));
  const fs::path file_ = folder_ / "access.log";
};

TEST_F(AccessLogTest, EveryLineIsWrittenByTheEnd) {
  fs::create_directories(folder_);
  std::ofstream(file_) << "what was there\n";
  {
    auto log = AccessLog::open(file_.string());
    ASSERT_TRUE(log);
    auto& writer = (*log)->add_writer();
    writer.append("one\n");
    writer.append("two\n");
  }
  EXPECT_EQ(content(file_), "what was there\none\ntwo\n");
}

TEST_F(AccessLogTest, LinesOfTwoWorkersAreWhole) {
  constexpr int kLines = 20'000;
  {
    auto log = AccessLog::open(file_.string());
    ASSERT_TRUE(log);
    std::vector<std::thread> workers;
    for (const std::string line : {"aaaaaaaaaaaaaaaa\n", "bbbbbbbbbbbbbbbb\n"}) {
      workers.emplace_back([&writer = (*log)->add_writer(), line] {
        for (int i = 0; i < kLines; ++i) writer.append(line);
      });
    }
    for (auto& worker : workers) worker.join();
    EXPECT_EQ((*log)->dropped(), 0U);
  }
  std::istringstream lines(content(file_));
  std::map<std::string, int> counts;
  for (std::string line; std::getline(lines, line);) ++counts[line];
  EXPECT_EQ(counts, (std::map<std::string, int>{{"aaaaaaaaaaaaaaaa", kLines}, {"bbbbbbbbbbbbbbbb", kLines}}));
}

// What a writer has no room for is dropped and counted; nothing waits.
TEST_F(AccessLogTest, WhatDoesNotFitIsCountedAndTheRestIsWritten) {
  {
    auto log = AccessLog::open(file_.string());
    ASSERT_TRUE(log);
    auto& writer = (*log)->add_writer();
    writer.append("before\n");
    writer.append(std::string(AccessLog::kMaxPending + 1, 'x'));
    writer.append("after\n");
    while ((*log)->written() + (*log)->dropped() < 3) std::this_thread::yield();
    EXPECT_EQ((*log)->written(), 2U);
    EXPECT_EQ((*log)->dropped(), 1U);
  }
  EXPECT_EQ(content(file_), "before\nafter\n");
}

TEST_F(AccessLogTest, AfterRotationTheNewFileIsUsed) {
  auto log = AccessLog::open(file_.string());
  ASSERT_TRUE(log);
  auto& writer = (*log)->add_writer();
  writer.append("old\n");
  while ((*log)->written() < 1) std::this_thread::yield();
  fs::rename(file_, folder_ / "access.log.1");
  (*log)->reopen();
  while (!fs::exists(file_)) std::this_thread::yield();
  writer.append("new\n");
  while ((*log)->written() < 2) std::this_thread::yield();
  EXPECT_EQ(content(folder_ / "access.log.1"), "old\n");
  EXPECT_EQ(content(file_), "new\n");
}

TEST_F(AccessLogTest, ATargetThatCannotBeOpenedIsAnError) {
  const auto log = AccessLog::open((folder_ / "no such folder" / "access.log").string());
  ASSERT_FALSE(log);
  EXPECT_NE(log.error().message.find("cannot open the access log"), std::string::npos);
}

TEST(JsonTextTest, EscapesWhatIsNotPlainAscii) {
  Text out;
  append_json_text(out, std::string_view("a\"b\\c\x01\x7f\xff\0z", 10));
  EXPECT_EQ(out.view(), R"(a\"b\\c\u0001\u007f\u00ff\u0000z)");
}

}  // namespace
}  // namespace weir::gateway
