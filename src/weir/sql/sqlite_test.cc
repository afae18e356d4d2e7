// SPDX-License-Identifier: Apache-2.0
//
// What holds of SQLite only: its file, and the locks by which processes share it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>

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

}  // namespace
}  // namespace weir::sql
