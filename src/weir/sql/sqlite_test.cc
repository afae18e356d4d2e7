// SPDX-License-Identifier: Apache-2.0
//
// What holds of SQLite only: its file, and the locks by which processes share it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "weir/sql/connection.h"
#include "weir/sql/testing/databases.h"
#include "weir/sql/transaction.h"

namespace weir::sql {
namespace {

class SqliteLocksTest : public ::testing::Test {
 protected:
  std::unique_ptr<Connection> connect() const {
    auto connection = open(database_->settings);
    if (!connection) throw std::runtime_error(connection.error().message);
    return *std::move(connection);
  }

  // As another process sees it: a process is not told of its own locks, and must not open the file to ask.
  bool is_locked(const std::string& suffix = "") const {
    const std::string path = database_->settings.path + suffix;
    const pid_t other = ::fork();
    if (other == 0) {
      struct flock lock{};
      lock.l_type = F_WRLCK;
      lock.l_whence = SEEK_SET;
      const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
      const bool asked = file >= 0 && ::fcntl(file, F_GETLK, &lock) == 0;
      ::_exit(asked ? (lock.l_type == F_UNLCK ? 0 : 1) : 2);
    }
    int status = 0;
    if (::waitpid(other, &status, 0) != other || !WIFEXITED(status) || WEXITSTATUS(status) > 1) {
      throw std::runtime_error("the locks of " + path + " cannot be told");
    }
    return WEXITSTATUS(status) == 1;
  }

  std::unique_ptr<testing::Database> database_ = testing::Databases::fresh(Dialect::kSqlite);
};

// Closing any descriptor of a file ends all POSIX locks that the process has on it. Without them another process
// would take itself for the only one, and remove the log that is still being read here.
TEST_F(SqliteLocksTest, AConnectionMoreOrLessLeavesTheLocksOfTheOthers) {
  const auto first = connect();
  ASSERT_TRUE(first->execute("CREATE TABLE things (id INTEGER PRIMARY KEY)").has_value());
  ASSERT_TRUE(is_locked()) << "whoever has the log open says so";
  {
    const auto second = connect();
    EXPECT_TRUE(is_locked());
  }
  EXPECT_TRUE(is_locked());
}

TEST_F(SqliteLocksTest, AConnectionMoreOrLessLeavesATransactionItsLocks) {
  const auto first = connect();
  ASSERT_TRUE(first->execute("CREATE TABLE things (id INTEGER PRIMARY KEY)").has_value());
  auto transaction = Transaction::begin(*first, Transaction::Kind::kWriting);
  ASSERT_TRUE(transaction.has_value());
  ASSERT_TRUE(first->execute("INSERT INTO things VALUES (1)").has_value());
  const auto second = connect();
  EXPECT_TRUE(is_locked());
  EXPECT_TRUE(is_locked("-shm"));
  EXPECT_TRUE(transaction->commit().has_value());
}

TEST_F(SqliteLocksTest, TheLocksEndWithTheLastConnection) {
  auto first = connect();
  ASSERT_TRUE(first->execute("CREATE TABLE things (id INTEGER PRIMARY KEY)").has_value());
  first.reset();
  EXPECT_FALSE(is_locked());
}

class SqliteReadingTest : public ::testing::Test {
 protected:
  using Files = std::map<std::string, std::string>;  // contents by name

  static Files files_in(const std::filesystem::path& folder) {
    Files files;
    for (const auto& one : std::filesystem::directory_iterator(folder)) {
      std::ifstream file(one.path(), std::ios::binary);
      files[one.path().filename()] = {std::istreambuf_iterator<char>(file), {}};
    }
    return files;
  }
  static std::size_t things_in(Settings settings) {
    settings.read_only = true;
    const auto connection = open(settings);
    if (!connection) return kUnreadable;
    EXPECT_FALSE((*connection)->execute("INSERT INTO things VALUES (99)").has_value());
    const auto answer = (*connection)->query("SELECT id FROM things", {});
    return answer ? answer->rows.size() : kUnreadable;
  }
  // As they are when whoever writes is suddenly gone.
  Settings copy() const {
    const std::filesystem::path folder = path().parent_path() / "copy";
    std::filesystem::create_directory(folder);
    for (const char* suffix : {"", "-wal", "-shm"}) {
      std::filesystem::copy(path().string() + suffix, folder / (path().filename().string() + suffix));
    }
    Settings settings = database_->settings;
    settings.path = folder / path().filename();
    return settings;
  }
  std::filesystem::path path() const { return database_->settings.path; }

  static constexpr std::size_t kUnreadable = 1000;
  std::unique_ptr<testing::Database> database_ = testing::Databases::fresh(Dialect::kSqlite);
  const std::vector<const char*> statements_{"CREATE TABLE things (id INTEGER PRIMARY KEY)",
                                             "INSERT INTO things VALUES (1)", "INSERT INTO things VALUES (2)"};
};

TEST_F(SqliteReadingTest, AFileWithoutALogIsLeftAsItIsWithNothingBesideIt) {
  {
    const auto writer = open(database_->settings);
    for (const char* statement : statements_) ASSERT_TRUE((*writer)->execute(statement).has_value());
  }
  const Files before = files_in(path().parent_path());
  ASSERT_EQ(before.size(), 1U);
  EXPECT_EQ(things_in(database_->settings), 2U);
  EXPECT_EQ(files_in(path().parent_path()), before);
}

TEST_F(SqliteReadingTest, ALogIsReadWithTheFileAndStaysTheLog) {
  const auto writer = open(database_->settings);
  for (const char* statement : statements_) ASSERT_TRUE((*writer)->execute(statement).has_value());
  const Settings left = copy();
  const std::filesystem::path folder = std::filesystem::path(left.path).parent_path();
  const Files before = files_in(folder);
  ASSERT_EQ(before.size(), 3U);
  EXPECT_EQ(things_in(left), 2U);
  EXPECT_EQ(files_in(folder), before);
}

TEST_F(SqliteReadingTest, AnEmptyFileStaysEmptyAndAMissingOneMissing) {
  EXPECT_EQ(things_in(database_->settings), kUnreadable);
  EXPECT_TRUE(files_in(path().parent_path()).empty());
  std::ofstream(path()).close();
  EXPECT_EQ(things_in(database_->settings), kUnreadable);
  EXPECT_EQ(files_in(path().parent_path()), (Files{{path().filename(), ""}}));
}

TEST_F(SqliteReadingTest, ANameMayHaveWhatAnAddressEscapes) {
  database_->settings.path = path().parent_path() / "a?b%41 #c.db";
  ASSERT_TRUE((*open(database_->settings))->execute(statements_.front()).has_value());
  EXPECT_EQ(things_in(database_->settings), 0U);
}

}  // namespace
}  // namespace weir::sql
