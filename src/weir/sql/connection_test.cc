// SPDX-License-Identifier: Apache-2.0
//
// What holds of every database: SQLite in a file, and a MariaDB server where there is one.
#include "weir/sql/connection.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "weir/sql/testing/databases.h"
#include "weir/sql/transaction.h"

namespace weir::sql {
namespace {

using testing::Databases;

class ConnectionTest : public ::testing::TestWithParam<Dialect> {
 protected:
  void SetUp() override {
    database_ = Databases::fresh(GetParam());
    if (!database_) GTEST_SKIP() << "there is no MariaDB here";
    first_ = connect();
    const bool sqlite = GetParam() == Dialect::kSqlite;
    execute(*first_,
            sqlite ? "CREATE TABLE things (id INTEGER PRIMARY KEY, number BIGINT, words TEXT UNIQUE, octets BLOB)"
                   : "CREATE TABLE things (id BIGINT PRIMARY KEY, number BIGINT, words VARCHAR(200) UNIQUE, "
                     "octets BLOB) ENGINE=InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin");
    execute(*first_, "CREATE TABLE parts (thing BIGINT, FOREIGN KEY (thing) REFERENCES things (id))");
  }

  Settings settings() const {
    Settings settings = database_->settings;
    settings.timeout = std::chrono::seconds(1);
    return settings;
  }

  std::unique_ptr<Connection> connect() const {
    auto connection = open(settings());
    if (!connection) throw std::runtime_error(connection.error().message);
    return *std::move(connection);
  }

  static void execute(Connection& connection, const std::string& statement) {
    const auto done = connection.execute(statement);
    ASSERT_TRUE(done.has_value()) << done.error().message;
  }

  static Result<Answer> query(Connection& connection, const std::string& statement,
                              const std::vector<Value>& values = {}) {
    return connection.query(statement, values);
  }

  static std::vector<Row> rows(Connection& connection, const std::string& statement,
                               const std::vector<Value>& values = {}) {
    auto answer = query(connection, statement, values);
    if (!answer) throw std::runtime_error(answer.error().message);
    return answer->rows;
  }

  static Transaction begin(Connection& connection, Transaction::Kind kind) {
    auto transaction = Transaction::begin(connection, kind);
    if (!transaction) throw std::runtime_error(transaction.error().message);
    return *std::move(transaction);
  }

  static Result<Answer> insert(Connection& connection, std::int64_t id, const std::string& words) {
    return query(connection, "INSERT INTO things (id, words) VALUES (?, ?)", {id, words});
  }

  std::int64_t count(Connection& connection) const {
    return std::get<std::int64_t>(rows(connection, "SELECT COUNT(*) FROM things")[0][0]);
  }

  std::unique_ptr<testing::Database> database_;
  std::unique_ptr<Connection> first_;
};

TEST_P(ConnectionTest, GivesBackEveryValueAsItWasWritten) {
  const std::string with_zeros{"\0a\0\xff\0", 5};
  const std::vector<Row> written{
      {1, std::numeric_limits<std::int64_t>::max(), std::string("Zażółć 🦀 \"'`\\?%"), Bytes{with_zeros}},
      {2, std::numeric_limits<std::int64_t>::min(), std::string(), Bytes{}},
      {3, Null{}, Null{}, Null{}},
      {4, std::int64_t{0}, std::string(150, 'x'), Bytes{std::string(60'000, '\0')}}};
  for (const Row& row : written) {
    const auto done = query(*first_, "INSERT INTO things (id, number, words, octets) VALUES (?, ?, ?, ?)", row);
    ASSERT_TRUE(done.has_value()) << done.error().message;
    EXPECT_EQ(done->affected, 1);
  }
  EXPECT_EQ(rows(*first_, "SELECT id, number, words, octets FROM things ORDER BY id"), written);
}

TEST_P(ConnectionTest, BindsValuesAndNeverReadsThemAsStatements) {
  ASSERT_TRUE(insert(*first_, 1, "'; DROP TABLE things; --").has_value());
  EXPECT_EQ(rows(*first_, "SELECT id FROM things WHERE words = ?", {std::string("'; DROP TABLE things; --")}),
            (std::vector<Row>{{std::int64_t{1}}}));
}

TEST_P(ConnectionTest, TellsTextsThatDifferInCaseOrAtTheirEndApart) {
  for (int i = 0; const char* text : {"a", "A", "a ", "ä", "á"})
    ASSERT_TRUE(insert(*first_, ++i, text).has_value()) << text;
  EXPECT_EQ(rows(*first_, "SELECT id FROM things WHERE words = ?", {std::string("a ")}),
            (std::vector<Row>{{std::int64_t{3}}}));
}

TEST_P(ConnectionTest, CountsTheRowsThatAStatementTouched) {
  for (int i = 1; i <= 3; ++i) ASSERT_TRUE(insert(*first_, i, std::to_string(i)).has_value());
  EXPECT_EQ(query(*first_, "UPDATE things SET number = ? WHERE id > ?", {5, 1})->affected, 2);
  EXPECT_EQ(query(*first_, "UPDATE things SET number = ? WHERE id > ?", {5, 1})->affected, 2);
  EXPECT_EQ(query(*first_, "DELETE FROM things WHERE id = ?", {7})->affected, 0);
  EXPECT_EQ(query(*first_, "DELETE FROM things WHERE id = ?", {2})->affected, 1);
}

TEST_P(ConnectionTest, CallsARowThatContradictsOthersAConstraint) {
  ASSERT_TRUE(insert(*first_, 1, "one").has_value());
  EXPECT_EQ(insert(*first_, 1, "two").error().kind, ErrorKind::kConstraint);
  EXPECT_EQ(insert(*first_, 2, "one").error().kind, ErrorKind::kConstraint);
  EXPECT_EQ(query(*first_, "INSERT INTO parts (thing) VALUES (?)", {9}).error().kind, ErrorKind::kConstraint);
  ASSERT_TRUE(query(*first_, "INSERT INTO parts (thing) VALUES (?)", {1}).has_value());
  EXPECT_EQ(query(*first_, "DELETE FROM things WHERE id = ?", {1}).error().kind, ErrorKind::kConstraint);
  EXPECT_FALSE(first_->lost());
}

TEST_P(ConnectionTest, CallsAWrongStatementInvalid) {
  EXPECT_EQ(first_->execute("SELEKT 1").error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(query(*first_, "SELECT nothing FROM things").error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(query(*first_, "SELECT 1 FROM nowhere").error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(query(*first_, "SELECT id FROM things WHERE id = ?").error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(query(*first_, "SELECT id FROM things WHERE id = ?", {1, 2}).error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(count(*first_), 0);
}

TEST_P(ConnectionTest, RunsMoreDifferentStatementsThanItRemembers) {
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(rows(*first_, "SELECT " + std::to_string(i)), (std::vector<Row>{{std::int64_t{i}}}));
  }
}

TEST_P(ConnectionTest, RunsARememberedStatementAfterItsTableHasChangedAtTheSecondTryAtLatest) {
  ASSERT_TRUE(insert(*first_, 1, "one").has_value());
  const std::string all = "SELECT * FROM things";
  EXPECT_EQ(rows(*first_, all)[0].size(), 4u);
  execute(*connect(), "ALTER TABLE things ADD COLUMN more BIGINT");
  auto answer = query(*first_, all);
  if (!answer && answer.error().kind == ErrorKind::kBusy) answer = query(*first_, all);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->rows[0].size(), 5u);
}

TEST_P(ConnectionTest, KeepsWhatWasCommitted) {
  {
    Transaction writing = begin(*first_, Transaction::Kind::kWriting);
    ASSERT_TRUE(insert(*first_, 1, "one").has_value());
    EXPECT_EQ(count(*connect()), 0);
    ASSERT_TRUE(writing.commit().has_value());
  }
  EXPECT_EQ(count(*connect()), 1);
}

TEST_P(ConnectionTest, ForgetsWhatWasNotCommitted) {
  {
    Transaction writing = begin(*first_, Transaction::Kind::kWriting);
    ASSERT_TRUE(insert(*first_, 1, "one").has_value());
  }
  EXPECT_EQ(count(*first_), 0);
  ASSERT_TRUE(insert(*first_, 2, "two").has_value());
  EXPECT_EQ(count(*connect()), 1);
}

TEST_P(ConnectionTest, SeesOneMomentInASnapshot) {
  const auto other = connect();
  ASSERT_TRUE(insert(*other, 1, "one").has_value());
  Transaction snapshot = begin(*first_, Transaction::Kind::kSnapshot);
  ASSERT_TRUE(insert(*other, 2, "two").has_value());
  EXPECT_EQ(count(*first_), 1);
  ASSERT_TRUE(insert(*other, 3, "three").has_value());
  EXPECT_EQ(count(*first_), 1);
  ASSERT_TRUE(snapshot.commit().has_value());
  EXPECT_EQ(count(*first_), 3);
}

TEST_P(ConnectionTest, SaysBusyWhenAnotherHoldsTheLockForTooLong) {
  ASSERT_TRUE(insert(*first_, 1, "one").has_value());
  const auto other = connect();
  Transaction holder = begin(*first_, Transaction::Kind::kWriting);
  ASSERT_TRUE(query(*first_, "UPDATE things SET number = ? WHERE id = ?", {1, 1}).has_value());
  const auto waiting = Transaction::begin(*other, Transaction::Kind::kWriting);
  const auto refused =
      !waiting ? waiting.error() : query(*other, "UPDATE things SET number = ? WHERE id = ?", {2, 1}).error();
  EXPECT_EQ(refused.kind, ErrorKind::kBusy) << refused.message;
  EXPECT_FALSE(other->lost());
}

TEST_P(ConnectionTest, IsUsableAgainAfterItWasBusy) {
  const auto other = connect();
  {
    Transaction holder = begin(*first_, Transaction::Kind::kWriting);
    ASSERT_TRUE(insert(*first_, 1, "one").has_value());
    EXPECT_EQ(insert(*other, 1, "two").error().kind, ErrorKind::kBusy);
  }
  EXPECT_TRUE(insert(*other, 1, "two").has_value());
}

INSTANTIATE_TEST_SUITE_P(Databases, ConnectionTest, ::testing::Values(Dialect::kSqlite, Dialect::kMariaDb),
                         [](const auto& one) { return one.param == Dialect::kSqlite ? "Sqlite" : "MariaDb"; });

TEST(SqliteTest, CreatesItsFileForItsOwnerOnly) {
  const auto database = Databases::fresh(Dialect::kSqlite);
  auto connection = open(database->settings);
  ASSERT_TRUE(connection.has_value()) << connection.error().message;
  ASSERT_TRUE((*connection)->execute("CREATE TABLE t (a BIGINT)").has_value());
  struct stat status{};
  for (const char* suffix : {"", "-wal"}) {
    ASSERT_EQ(::stat((database->settings.path + suffix).c_str(), &status), 0) << suffix;
    EXPECT_EQ(status.st_mode & 0777U, 0600U) << suffix;
  }
}

TEST(SqliteTest, SaysWhichFileItCannotUse) {
  const auto database = Databases::fresh(Dialect::kSqlite);
  Settings settings = database->settings;
  settings.path += "/nowhere/file";
  const auto nowhere = open(settings);
  ASSERT_FALSE(nowhere.has_value());
  EXPECT_EQ(nowhere.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(nowhere.error().message.find("nowhere/file"), std::string::npos);
}

class MariaDbTest : public ::testing::Test {
 protected:
  void SetUp() override {
    database_ = Databases::fresh(Dialect::kMariaDb);
    if (!database_) GTEST_SKIP() << "there is no MariaDB here";
    settings_ = database_->settings;
    settings_.timeout = std::chrono::seconds(1);
    connection_ = *open(settings_);
    ASSERT_TRUE(connection_->execute("CREATE TABLE things (id BIGINT PRIMARY KEY) ENGINE=InnoDB").has_value());
  }

  static Result<Answer> insert(Connection& connection, std::int64_t id) {
    return connection.query("INSERT INTO things (id) VALUES (?)", std::vector<Value>{id});
  }
  static std::size_t count(Connection& connection) {
    return connection.query("SELECT id FROM things", {})->rows.size();
  }

  std::unique_ptr<testing::Database> database_;
  Settings settings_;
  std::unique_ptr<Connection> connection_;
};

TEST_F(MariaDbTest, LosesATransactionWithItsConnection) {
  const auto id = std::get<std::int64_t>(connection_->query("SELECT CONNECTION_ID()", {})->rows[0][0]);
  const auto other = *open(settings_);
  {
    auto writing = Transaction::begin(*connection_, Transaction::Kind::kWriting);
    ASSERT_TRUE(insert(*connection_, 1).has_value());
    ASSERT_TRUE(other->execute("KILL " + std::to_string(id)).has_value());
    const auto after = insert(*connection_, 2);
    ASSERT_FALSE(after.has_value());
    EXPECT_EQ(after.error().kind, ErrorKind::kUnavailable) << after.error().message;
    EXPECT_TRUE(connection_->lost());
    EXPECT_EQ(writing->commit().error().kind, ErrorKind::kUnavailable);
  }
  EXPECT_EQ(connection_->query("SELECT 1", {}).error().kind, ErrorKind::kUnavailable)
      << "it never comes back by itself";
  EXPECT_EQ(count(*other), 0u);
}

TEST_F(MariaDbTest, FindsWhatWasCommittedAfterTheServerWasKilled) {
  ASSERT_TRUE(insert(*connection_, 1).has_value());
  database_->server->kill();
  EXPECT_EQ(insert(*connection_, 2).error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(open(settings_).error().kind, ErrorKind::kUnavailable);
  database_->server->restart();
  EXPECT_EQ(count(**open(settings_)), 1u);
}

TEST_F(MariaDbTest, GivesUpOnAServerThatStandsStill) {
  database_->server->stop();
  const auto answer = insert(*connection_, 1);
  const auto opened = open(settings_);
  database_->server->cont();
  EXPECT_EQ(answer.error().kind, ErrorKind::kUnavailable);
  EXPECT_TRUE(connection_->lost());
  EXPECT_EQ(opened.error().kind, ErrorKind::kUnavailable);
}

TEST_F(MariaDbTest, SaysWhenItIsNotLetIn) {
  Settings wrong = settings_;
  wrong.password = "hunter2";
  const auto opened = open(wrong);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(opened.error().message.find("hunter2"), std::string::npos);
  wrong = settings_;
  wrong.database = "nowhere";
  EXPECT_EQ(open(wrong).error().kind, ErrorKind::kInvalid);
}

TEST_F(MariaDbTest, RefusesAServerWithoutTlsWhenCertificatesAreGiven) {
  Settings tls = settings_;
  tls.ca = "/etc/ssl/certs/ca-certificates.crt";
  EXPECT_FALSE(open(tls).has_value());
}

TEST_F(MariaDbTest, RefusesToWriteInASnapshot) {
  auto snapshot = Transaction::begin(*connection_, Transaction::Kind::kSnapshot);
  EXPECT_EQ(insert(*connection_, 1).error().kind, ErrorKind::kInvalid);
}

TEST_F(MariaDbTest, RefusesTextThatIsTooLongInsteadOfCuttingIt) {
  ASSERT_TRUE(connection_->execute("ALTER TABLE things ADD COLUMN words VARCHAR(3)").has_value());
  const std::vector<Value> values{1, std::string("four")};
  EXPECT_EQ(connection_->query("INSERT INTO things (id, words) VALUES (?, ?)", values).error().kind,
            ErrorKind::kConstraint);
}

}  // namespace
}  // namespace weir::sql
