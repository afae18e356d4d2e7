// SPDX-License-Identifier: Apache-2.0
//
// The repository on both databases.
#include "weir/partners/repository.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "weir/partners/digest.h"
#include "weir/partners/migrations.h"
#include "weir/partners/settings.h"
#include "weir/partners/testing/unreliable_connection.h"
#include "weir/sql/testing/databases.h"

namespace weir::partners {
namespace {

using sql::testing::Databases;
using Storm = testing::Weather::Storm;
using Action = Change::Action;
using std::chrono::hours;

const WriteOptions kByTest{.by = "test@here"};
const WriteOptions kDry{.by = "test@here", .dry_run = true};

Plan plan(const std::string& name) { return {.name = name, .note = "", .stamp = {}}; }
Partner partner(const std::string& name, const std::string& of_plan = "") {
  return {.name = name, .plan = of_plan, .enabled = true, .note = "", .stamp = {}};
}
Key key(const std::string& id, const std::string& of_partner) {
  Key key;
  key.id = id;
  key.digest = digest_of(id);
  key.partner = of_partner;
  return key;
}
LimitRow limit(const std::string& owner, const std::string& rate, OwnerKind kind = OwnerKind::kPartner) {
  LimitRow row;
  row.limit = "partner-service";
  row.owner = {kind, owner};
  row.service = "SAUCE";
  row.rate = rate;
  return row;
}
Scopes scopes() {
  LimitScope scope;
  scope.name = "partner-service";
  scope.per_service = true;
  scope.services = {"SAUCE"};
  return {.limits = {scope}, .services = {"SAUCE"}};
}

class RepositoryTest : public ::testing::TestWithParam<sql::Dialect> {
 protected:
  void SetUp() override {
    database_ = Databases::fresh(GetParam());
    if (!database_) GTEST_SKIP() << "there is no MariaDB here";
    database_->settings.timeout = std::chrono::seconds(2);
    repository_ = connect();
    ASSERT_TRUE(repository_->migrate().has_value());
  }

  std::unique_ptr<Repository> connect() {
    return std::make_unique<Repository>(Repository::Settings{.open = opener(database_->settings)}, clock_);
  }
  std::unique_ptr<Repository> connect(testing::Weather& weather) {
    return std::make_unique<Repository>(
        Repository::Settings{.open = testing::unreliable_opener(database_->settings, weather)}, clock_);
  }

  // The changes that it made; a failure where it was refused.
  std::vector<Change> put(Row row) {
    auto done = repository_->apply({Edit::put(std::move(row))}, kByTest);
    EXPECT_TRUE(done.has_value()) << (done ? "" : done.error().message);
    return done ? done->changes : std::vector<Change>();
  }
  Refusal refused(const Edit& edit) {
    auto done = repository_->apply({edit}, kByTest);
    EXPECT_FALSE(done.has_value());
    return done ? Refusal() : done.error();
  }
  std::optional<Row> get(const RowId& id) {
    auto found = repository_->get(id);
    EXPECT_TRUE(found.has_value()) << (found ? "" : found.error().message);
    return found ? *found : std::nullopt;
  }
  std::size_t count(RowKind kind) { return repository_->list(kind, {})->rows.size(); }
  void by_hand(const std::string& statement) {
    auto connection = *sql::open(database_->settings);
    const auto done = connection->execute(statement);
    ASSERT_TRUE(done.has_value()) << done.error().message;
  }
  void fill() {
    put(plan("gold"));
    put(partner("acme", "gold"));
    put(key("k1", "acme"));
    put(limit("acme", "20/s"));
    put(limit("gold", "10/s", OwnerKind::kPlan));
  }

  std::unique_ptr<sql::testing::Database> database_;
  ManualClock clock_;
  std::unique_ptr<Repository> repository_;
};

TEST_P(RepositoryTest, GivesBackWhatWasPutWithItsStamp) {
  put(Plan{.name = "góld", .note = "it's \"the best\" 🦀", .stamp = {}});
  Key full = key("k", "acme");
  full.plan = "góld";
  full.enabled = false;
  full.not_before = clock_.wall();
  full.expires = clock_.wall() + hours(1);
  full.note = "a note";
  put(partner("acme", "góld"));
  put(full);
  LimitRow row = limit("acme", "20/s");
  row.endpoint = "GET /products/{id}";
  row.algorithm = config::Algorithm::kTokenBucket;
  row.burst = 50;
  row.mode = config::Mode::kShadow;
  row.note = "note";
  put(row);
  full.stamp = {3, clock_.wall(), "test@here"};
  row.stamp = {4, clock_.wall(), "test@here"};
  EXPECT_EQ(get({RowKind::kKey, "k", {}}), Row(full));
  EXPECT_EQ(get(id_of(row.id())), Row(row));
  EXPECT_EQ(std::get<Plan>(*get({RowKind::kPlan, "góld", {}})).note, "it's \"the best\" 🦀");
}

TEST_P(RepositoryTest, GivesRevisionsInOrderAndLogsEveryChange) {
  fill();
  clock_.advance(hours(1));
  put(partner("acme"));
  const auto changes = *repository_->changes({});
  ASSERT_EQ(changes.size(), 6u);
  for (std::size_t i = 0; i < changes.size(); ++i) EXPECT_EQ(changes[i].revision, static_cast<std::int64_t>(i) + 1);
  const Change& last = changes.back();
  EXPECT_EQ(last.action, Action::kChanged);
  EXPECT_EQ(last.kind, RowKind::kPartner);
  EXPECT_EQ(last.name, "acme");
  EXPECT_EQ(last.by, "test@here");
  EXPECT_EQ(last.at, clock_.wall());
  EXPECT_EQ(last.subject, (Subject{Subject::Kind::kPartner, "acme"}));
  EXPECT_NE(last.before.find(R"("plan":"gold")"), std::string::npos) << last.before;
  EXPECT_EQ(last.after.find("gold"), std::string::npos) << last.after;
  EXPECT_EQ(changes[2].subject, subject_of(digest_of("k1")));
  EXPECT_EQ(changes[4].subject, (Subject{Subject::Kind::kPlan, "gold"}));
  EXPECT_EQ(repository_->changes_after(4, 1)->at(0).revision, 5);
  EXPECT_EQ(*repository_->revision(), 6);
}

TEST_P(RepositoryTest, ChangesNothingWhereNothingIsDifferent) {
  fill();
  EXPECT_TRUE(put(partner("acme", "gold")).empty());
  EXPECT_EQ(*repository_->revision(), 5);
}

TEST_P(RepositoryTest, RefusesToChangeWhatSomebodyElseHasChanged) {
  put(plan("gold"));
  EXPECT_EQ(refused(Edit::put(plan("gold"), 7)).kind, Refusal::Kind::kConflict);
  EXPECT_EQ(refused(Edit::put(plan("gold"), 0)).message, "plan 'gold' is there already");
  EXPECT_EQ(refused(Edit::put(plan("new"), 7)).message, "plan 'new' is no longer there");
  EXPECT_EQ(refused(Edit::remove({RowKind::kPlan, "gold", {}}, 2)).kind, Refusal::Kind::kConflict);
  EXPECT_TRUE(
      repository_->apply({Edit::put(Plan{.name = "gold", .note = "x", .stamp = {}}, 1)}, kByTest).has_value());
}

TEST_P(RepositoryTest, RefusesWhatNamesNobody) {
  EXPECT_EQ(refused(Edit::put(partner("acme", "gold"))).message, "partner 'acme': plan: there is no plan 'gold'");
  EXPECT_EQ(refused(Edit::put(key("k", "acme"))).message, "key 'k': partner: there is no partner 'acme'");
  EXPECT_EQ(refused(Edit::put(limit("acme", "1/s"))).message,
            "limit 'partner-service' of partner 'acme' for service 'SAUCE': partner: there is no partner 'acme'");
  EXPECT_EQ(refused(Edit::remove({RowKind::kKey, "k", {}})).kind, Refusal::Kind::kAbsent);
  EXPECT_EQ(*repository_->revision(), 0);
}

TEST_P(RepositoryTest, RefusesTheSameKeyTwiceAndAnotherKeyByTheSameId) {
  fill();
  Key other = key("k1", "acme");
  other.digest = digest_of("else");
  EXPECT_EQ(refused(Edit::put(other)).faults.at(0).field, "key_sha256");
  other = key("k2", "acme");
  other.digest = digest_of("k1");
  EXPECT_EQ(refused(Edit::put(other)).message, "key 'k2': key_sha256: the same key is there as key 'k1'");
}

TEST_P(RepositoryTest, WantsToKnowWhoDoesIt) {
  for (const std::string& by :
       {std::string(), std::string(257, 'x'), std::string("two\nlines"), std::string("\xff")}) {
    const auto done = repository_->apply({Edit::put(plan("gold"))}, {.by = by});
    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().kind, Refusal::Kind::kWrong);
  }
}

TEST_P(RepositoryTest, TellsEveryFaultOfManyEditsAndWritesNone) {
  const auto done =
      repository_->apply({Edit::put(plan("good")), Edit::put(plan("")), Edit::put(partner("a", "none"))}, kByTest);
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().faults.size(), 2u);
  EXPECT_EQ(count(RowKind::kPlan), 0u);
}

TEST_P(RepositoryTest, RemovesAPartnerWithItsKeysAndLimits) {
  fill();
  const auto done = repository_->apply({Edit::remove({RowKind::kPartner, "acme", {}})}, kByTest);
  ASSERT_TRUE(done.has_value()) << done.error().message;
  ASSERT_EQ(done->changes.size(), 3u);
  for (const Change& change : done->changes) EXPECT_EQ(change.action, Action::kDeleted);
  EXPECT_EQ(done->changes[2].kind, RowKind::kPartner);
  EXPECT_EQ(count(RowKind::kKey), 0u);
  EXPECT_EQ(count(RowKind::kLimit), 1u) << "that of the plan stays";
}

TEST_P(RepositoryTest, RefusesToRemoveAPlanThatIsUsed) {
  fill();
  const RowId gold{RowKind::kPlan, "gold", {}};
  const Refusal refusal = refused(Edit::remove(gold));
  EXPECT_EQ(refusal.kind, Refusal::Kind::kInUse);
  EXPECT_EQ(refusal.message, "plan 'gold' is the plan of 1 partner and 0 keys");
  put(partner("acme"));
  EXPECT_EQ(repository_->apply({Edit::remove(gold)}, kByTest)->changes.size(), 2u) << "its limit too";
}

TEST_P(RepositoryTest, TellsWhatADryRunWouldDo) {
  fill();
  const auto done = repository_->apply({Edit::remove({RowKind::kPartner, "acme", {}})}, kDry);
  EXPECT_EQ(done->changes.size(), 3u);
  EXPECT_EQ(count(RowKind::kPartner), 1u);
  EXPECT_EQ(*repository_->revision(), 5);
}

TEST_P(RepositoryTest, ReadsManyRecordsOfOneMoment) {
  fill();
  std::vector<Subject> subjects{subject_of(digest_of("k1")),
                                {Subject::Kind::kPartner, "acme"},
                                {Subject::Kind::kPlan, "gold"},
                                {Subject::Kind::kPartner, "nobody"},
                                {Subject::Kind::kPartner, "acme"}};
  for (int i = 0; i < 1200; ++i) subjects.push_back({Subject::Kind::kPartner, "p" + std::to_string(i)});
  const auto reading = repository_->read(subjects);
  ASSERT_TRUE(reading.has_value()) << reading.error().message;
  EXPECT_EQ(reading->revision, 5);
  ASSERT_EQ(reading->records.size(), subjects.size());
  EXPECT_EQ(std::get<Key>(reading->records[0]).id, "k1");
  const auto& acme = std::get<PartnerRecord>(reading->records[1]);
  EXPECT_EQ(acme.partner.plan, "gold");
  ASSERT_EQ(acme.limits.size(), 1u);
  EXPECT_EQ(acme.limits[0].rate, "20/s");
  EXPECT_EQ(std::get<PlanRecord>(reading->records[2]).limits.at(0).rate, "10/s");
  EXPECT_EQ(reading->records[3], Record());
  EXPECT_EQ(reading->records[4], reading->records[1]);
}

TEST_P(RepositoryTest, LeavesOutRowsThatWereSpoiledByHandAndNamesThem) {
  fill();
  by_hand("UPDATE limits SET rate = 'a lot' WHERE partner = 'acme'");
  by_hand("UPDATE limits SET algorithm = 'gcra' WHERE plan = 'gold'");
  by_hand("UPDATE api_keys SET expires = 'tomorrow'");
  const std::vector<Subject> subjects{
      subject_of(digest_of("k1")), {Subject::Kind::kPartner, "acme"}, {Subject::Kind::kPlan, "gold"}};
  const auto reading = repository_->read(subjects);
  ASSERT_TRUE(reading.has_value()) << reading.error().message;
  EXPECT_EQ(reading->records[0], Record());
  EXPECT_TRUE(std::get<PartnerRecord>(reading->records[1]).limits.empty());
  ASSERT_EQ(reading->faults.size(), 3u);
  EXPECT_EQ(reading->faults[0].row, "key 'k1'");
  EXPECT_EQ(reading->faults[0].field, "expires");
  EXPECT_EQ(reading->faults[1].row, "limit 'partner-service' of partner 'acme' for service 'SAUCE'");
  EXPECT_EQ(repository_->list(RowKind::kLimit, {})->faults.size(), 2u);
  EXPECT_EQ(repository_->check()->size(), 3u);
  put(limit("acme", "5/s"));
  EXPECT_EQ(repository_->check()->size(), 2u) << "a spoiled row can be replaced";
  EXPECT_TRUE(repository_->apply({Edit::remove({RowKind::kPartner, "acme", {}})}, kByTest).has_value());
}

TEST_P(RepositoryTest, ListsInPagesAndByWhatIsAskedFor) {
  put(plan("gold"));
  for (const char* name : {"b", "a_", "ax", "c", "A"}) put(partner(name, name == std::string("c") ? "gold" : ""));
  RowFilter filter;
  filter.most = 2;
  std::vector<std::string> names;
  for (;;) {
    const auto page = repository_->list(RowKind::kPartner, filter);
    for (const Row& row : page->rows) names.push_back(std::get<Partner>(row).name);
    if (!page->next) break;
    filter.after = page->next;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"A", "a_", "ax", "b", "c"}));
  filter = {};
  filter.prefix = "a";
  EXPECT_EQ(repository_->list(RowKind::kPartner, filter)->rows.size(), 2u);
  filter = {};
  filter.plan = "gold";
  EXPECT_EQ(repository_->list(RowKind::kPartner, filter)->rows.size(), 1u);
}

TEST_P(RepositoryTest, PagesThroughLimits) {
  put(plan("p"));
  for (const char* name : {"a", "b"}) {
    put(partner(name));
    put(limit(name, "1/s"));
    LimitRow other = limit(name, "2/s");
    other.service = "TARGET";
    put(other);
  }
  put(limit("p", "3/s", OwnerKind::kPlan));
  RowFilter filter;
  filter.most = 1;
  std::size_t found = 0;
  for (;; ++found) {
    const auto page = repository_->list(RowKind::kLimit, filter);
    if (!page->next) break;
    filter.after = page->next;
  }
  EXPECT_EQ(found + 1, 5u);
  filter = {};
  filter.partner = "b";
  EXPECT_EQ(repository_->list(RowKind::kLimit, filter)->rows.size(), 2u);
}

TEST_P(RepositoryTest, MakesAKeyAndTellsItOnce) {
  put(partner("acme"));
  KeyRequest request;
  request.key.partner = "acme";
  const auto made = repository_->create_key(request, kByTest);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_EQ(made->clear.size(), 48u);
  EXPECT_TRUE(made->clear.starts_with("weir_"));
  EXPECT_EQ(digest_of(made->clear), made->key.digest);
  EXPECT_EQ(get({RowKind::kKey, made->key.id, {}}), Row(made->key));
  EXPECT_EQ(made->applied.changes.at(0).after.find(made->clear), std::string::npos);
  request.secret = "open sesame";
  const auto given = repository_->create_key(request, kByTest);
  EXPECT_EQ(given.error().kind, Refusal::Kind::kWrong) << "a header field is split at spaces";
}

TEST_P(RepositoryTest, RotatesAKey) {
  put(partner("acme"));
  put(key("old", "acme"));
  const WallTime end = clock_.wall() + hours(24);
  const auto made = repository_->rotate_key({.id = "old", .expires = end, .new_id = "new", .secret = {}}, kByTest);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_EQ(std::get<Key>(*get({RowKind::kKey, "old", {}})).expires, end);
  const Key fresh = std::get<Key>(*get({RowKind::kKey, "new", {}}));
  EXPECT_EQ(fresh, made->key);
  EXPECT_EQ(fresh.partner, "acme");
  EXPECT_FALSE(fresh.expires.has_value());
  EXPECT_EQ(repository_->rotate_key({.id = "none", .expires = end, .new_id = "", .secret = {}}, kByTest).error().kind,
            Refusal::Kind::kAbsent);
}

TEST_P(RepositoryTest, ImportsInAnyOrderAndPrunesTheRest) {
  fill();
  std::vector<Row> rows{limit("new", "5/s"), key("k2", "new"), partner("new", "silver"), plan("silver"),
                        limit("new", "5/s", OwnerKind::kPartner)};
  rows.pop_back();
  const auto added = repository_->import(rows, false, kByTest);
  ASSERT_TRUE(added.has_value()) << added.error().message;
  EXPECT_EQ(added->changes.size(), 4u);
  EXPECT_EQ(count(RowKind::kPartner), 2u);
  const auto pruned = repository_->import(rows, true, kByTest);
  ASSERT_TRUE(pruned.has_value()) << pruned.error().message;
  EXPECT_EQ(pruned->unchanged, 4u);
  EXPECT_EQ(pruned->changes.size(), 5u);
  EXPECT_EQ(count(RowKind::kPlan), 1u);
}

TEST_P(RepositoryTest, ChecksRowsAgainstTheConfigurationWhereThereIsOne) {
  fill();
  Repository strict({.open = opener(database_->settings), .scopes = scopes()}, clock_);
  EXPECT_TRUE(strict.check()->empty());
  LimitRow row = limit("acme", "20/s");
  row.service = "SUACE";
  const auto done = strict.apply({Edit::put(row)}, kByTest);
  ASSERT_FALSE(done.has_value());
  EXPECT_NE(done.error().message.find("did you mean 'SAUCE'?"), std::string::npos) << done.error().message;
  put(row);
  EXPECT_EQ(strict.check()->size(), 1u);
}

TEST_P(RepositoryTest, FiltersTheLog) {
  fill();
  ChangeFilter filter;
  filter.partner = "acme";
  EXPECT_EQ(repository_->changes(filter)->size(), 3u);
  filter = {};
  filter.kind = RowKind::kPlan;
  EXPECT_EQ(repository_->changes(filter)->size(), 1u);
  filter = {};
  filter.newest_first = true;
  filter.most = 1;
  EXPECT_EQ(repository_->changes(filter)->at(0).revision, 5);
  filter = {};
  filter.by = "nobody";
  EXPECT_TRUE(repository_->changes(filter)->empty());
}

TEST_P(RepositoryTest, TriesAgainWhenTheConnectionIsLostBeforeTheCommit) {
  testing::Weather weather{.storms = {Storm::kBeforeCommit}};
  const auto repository = connect(weather);
  const auto done = repository->apply({Edit::put(plan("gold"))}, kByTest);
  ASSERT_TRUE(done.has_value()) << done.error().message;
  EXPECT_EQ(repository_->changes({})->size(), 1u);
}

TEST_P(RepositoryTest, FindsOutThatALostCommitHasHappened) {
  testing::Weather weather{.storms = {Storm::kAfterCommit}};
  const auto repository = connect(weather);
  const auto done = repository->apply({Edit::put(plan("gold"))}, kByTest);
  ASSERT_TRUE(done.has_value()) << done.error().message;
  EXPECT_EQ(repository_->changes({})->size(), 1u) << "and is not done again";
}

TEST_P(RepositoryTest, SaysThatItDoesNotKnowWhereTheDatabaseStaysAway) {
  testing::Weather weather{.storms = {Storm::kAfterCommit}, .away_after_storm = true};
  const auto repository = connect(weather);
  const auto done = repository->apply({Edit::put(plan("gold"))}, kByTest);
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().kind, Refusal::Kind::kUnknown);
}

TEST_P(RepositoryTest, SaysThatNothingWasWrittenWhenItFailsTwice) {
  testing::Weather weather{.storms = {4, Storm::kBeforeCommit}};
  const auto repository = connect(weather);
  const auto done = repository->apply({Edit::put(plan("gold"))}, kByTest);
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().kind, Refusal::Kind::kUnavailable);
  EXPECT_EQ(*repository_->revision(), 0);
}

TEST_P(RepositoryTest, ReadsAgainWhenAnIdleConnectionWasClosed) {
  testing::Weather weather;
  const auto repository = connect(weather);
  ASSERT_TRUE(repository->revision().has_value());
  weather.storms = {Storm::kNone, Storm::kNone};
  weather.away = true;
  ASSERT_TRUE(repository->revision().has_value()) << "the connection is open";
  weather.away = false;
  testing::Weather stormy{.storms = {Storm::kFirstStatement}};
  const auto fresh = connect(stormy);
  EXPECT_EQ(fresh->revision().error().kind, ErrorKind::kUnavailable) << "a connection that is new is not replaced";
  EXPECT_TRUE(fresh->revision().has_value());
}

TEST_P(RepositoryTest, KeepsTheOrderOfRevisionsWhenManyWriteAtOnce) {
  constexpr int kWriters = 4, kEach = 10;
  std::vector<std::thread> writers;
  for (int i = 0; i < kWriters; ++i) {
    writers.emplace_back([this, i] {
      const auto repository = connect();
      for (int n = 0; n < kEach; ++n) {
        const auto name = std::to_string(i) + "-" + std::to_string(n);
        EXPECT_TRUE(repository->apply({Edit::put(plan(name))}, kByTest).has_value());
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  const auto changes = *repository_->changes({});
  ASSERT_EQ(changes.size(), static_cast<std::size_t>(kWriters * kEach));
  for (std::size_t i = 0; i < changes.size(); ++i) EXPECT_EQ(changes[i].revision, static_cast<std::int64_t>(i) + 1);
}

TEST_P(RepositoryTest, MigratesOnceHoweverOftenAndByHowManyItIsAsked) {
  const auto database = Databases::fresh(GetParam());
  std::vector<std::thread> migrators;
  for (int i = 0; i < 4; ++i) {
    migrators.emplace_back([&] {
      Repository repository({.open = opener(database->settings)}, clock_);
      const auto before = repository.migrate();
      EXPECT_TRUE(before.has_value()) << before.error().message;
    });
  }
  for (std::thread& migrator : migrators) migrator.join();
  Repository repository({.open = opener(database->settings)}, clock_);
  EXPECT_EQ(*repository.migrate(), kSchemaVersion);
  EXPECT_EQ(*repository.revision(), 0);
}

TEST_P(RepositoryTest, ContinuesAMigrationThatWasBrokenOff) {
  const auto database = Databases::fresh(GetParam());
  const auto connection = *sql::open(database->settings);
  ASSERT_TRUE(migrate(*connection, 1).has_value());
  const auto version = *schema_version(*connection);
  EXPECT_EQ(version, 1);
  ASSERT_TRUE(connection->execute("UPDATE schema_version SET version = 0").has_value());
  EXPECT_EQ(*migrate(*connection), 0) << "the first step is done again";
  EXPECT_EQ(*schema_version(*connection), kSchemaVersion);
}

TEST_P(RepositoryTest, SaysWhatToDoAboutAnotherSchema) {
  by_hand("UPDATE schema_version SET version = 1");
  const auto older = connect()->revision();
  if (GetParam() == sql::Dialect::kMariaDb) {
    ASSERT_FALSE(older.has_value());
    EXPECT_EQ(older.error().kind, ErrorKind::kInvalid);
    EXPECT_NE(older.error().message.find("weir policies migrate"), std::string::npos);
  } else {
    EXPECT_TRUE(older.has_value()) << "a file is migrated by whoever comes first";
  }
  by_hand("UPDATE schema_version SET version = 99");
  const auto newer = connect()->revision();
  ASSERT_FALSE(newer.has_value());
  EXPECT_NE(newer.error().message.find("schema 99"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Databases, RepositoryTest, ::testing::Values(sql::Dialect::kSqlite, sql::Dialect::kMariaDb),
                         [](const auto& one) { return one.param == sql::Dialect::kSqlite ? "Sqlite" : "MariaDb"; });

}  // namespace
}  // namespace weir::partners
