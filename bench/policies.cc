// SPDX-License-Identifier: Apache-2.0
//
// What looking up policies costs. Prints one JSON object a line.
//
//   bench_policies hits                      partners that are known, in random order, and what each takes
//   bench_policies misses FOLDER [PARTNERS]  partners that are not, with SQLite and with a MariaDB of its own
//
// Hits are processor time of this thread. Misses are records that come in a second while 1,000 requests wait.
#include <fmt/format.h>
#include <malloc.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <mutex>
#include <random>
#include <semaphore>
#include <string>
#include <string_view>
#include <vector>

#include "weir/lookup/directory.h"
#include "weir/partners/digest.h"
#include "weir/partners/migrations.h"
#include "weir/partners/repository.h"
#include "weir/sql/testing/mariadb_server.h"
#include "weir/sql/transaction.h"

namespace {

using weir::lookup::Directory;
using weir::partners::Subject;

constexpr std::size_t kVisits = 1 << 20;
constexpr std::ptrdiff_t kWaiting = 1000;
constexpr auto kMeasured = std::chrono::seconds(5);

[[noreturn]] void fail(std::string_view why) {
  fmt::print(stderr, "bench_policies: {}\n", why);
  std::exit(1);
}

std::string name_of(std::size_t partner) { return fmt::format("partner-{}", partner); }
Subject subject_of(std::size_t partner) { return {Subject::Kind::kPartner, name_of(partner)}; }

weir::partners::PartnerRecord record_of(const std::string& name) {
  weir::partners::PartnerRecord record;
  record.partner.name = name;
  record.partner.plan = "gold";
  weir::partners::LimitRow row;
  row.limit = "partner-service";
  row.owner = {weir::partners::OwnerKind::kPartner, name};
  row.service = "SAUCE_SERVICE";
  row.rate = "20/s";
  record.limits.push_back(std::move(row));
  return record;
}

// Knows everybody, at once.
class Everybody final : public weir::partners::Source {
 public:
  weir::Result<weir::partners::Reading> read(std::span<const Subject> subjects) override {
    weir::partners::Reading reading{.revision = 1, .records = {}, .faults = {}};
    for (const Subject& subject : subjects) {
      if (subject.kind == Subject::Kind::kKey) {
        weir::partners::Key key;
        key.partner = "partner-1";
        reading.records.emplace_back(std::move(key));
      } else {
        reading.records.emplace_back(record_of(subject.name));
      }
    }
    return reading;
  }
  weir::Result<std::vector<weir::partners::Change>> changes_after(std::int64_t, std::size_t) override {
    return std::vector<weir::partners::Change>();
  }
  weir::Result<std::int64_t> revision() override { return 1; }
};

// Asks for all of them, so many at a time, and waits until the last has come.
void fetch(Directory& directory, std::size_t count, const auto& subject) {
  std::counting_semaphore<> places(kWaiting);
  for (std::size_t i = 0; i < count; ++i) {
    places.acquire();
    directory.want(subject(i), [&](bool read) {
      if (!read) fail("a look-up failed");
      places.release();
    });
  }
  for (std::ptrdiff_t i = 0; i < kWaiting; ++i) places.acquire();
}

std::int64_t thread_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

Directory::Settings settings(std::size_t most) {
  return {.lifetimes = {.present = std::chrono::hours(10), .absent = std::chrono::hours(10)},
          .most = most,
          .readers = 2,
          .poll = std::chrono::hours(1),
          .snapshot = {}};
}

std::unique_ptr<weir::lookup::SharedCache> no_redis(const std::function<void()>&) { return nullptr; }

// The best of several rounds: whatever else runs can only add.
double time_of(const auto& look_up) {
  double best = 1e9;
  for (int round = 0; round < 7; ++round) {
    const std::int64_t before = thread_time();
    for (std::size_t i = 0; i < kVisits; ++i) look_up(i);
    best = std::min(best, static_cast<double>(thread_time() - before) / kVisits);
  }
  return best;
}

void measure_hits(std::size_t partners) {
  const weir::SystemClock clock;
  const std::size_t before = ::mallinfo2().uordblks;
  Directory directory(clock, settings(partners * 4), [] { return std::make_unique<Everybody>(); }, no_redis);
  fetch(directory, partners, subject_of);
  const double bytes = static_cast<double>(::mallinfo2().uordblks - before) / static_cast<double>(partners);
  std::mt19937_64 random(1);
  std::vector<Subject> visits;
  for (std::size_t i = 0; i < kVisits; ++i) visits.push_back(subject_of(random() % partners));
  const weir::Instant now = clock.now();
  const double hit = time_of([&](std::size_t i) {
    if (directory.find(visits[i], now).freshness != weir::lookup::Freshness::kFresh) fail("it is not known");
  });
  fmt::print("{{\"what\":\"hit\",\"partners\":{},\"ns\":{:.1f},\"bytes\":{:.0f}}}\n", partners, hit, bytes);
}

// An API key is hashed before it is looked up.
void measure_key() {
  const weir::SystemClock clock;
  Directory directory(clock, settings(100'000), [] { return std::make_unique<Everybody>(); }, no_redis);
  constexpr std::size_t kKeys = 10'000;
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < kKeys; ++i)
    keys.push_back(fmt::format("weir_0123456789012345678901234567890123{:08}", i));
  const auto subject = [&](std::size_t i) {
    return weir::partners::subject_of(weir::partners::digest_of(keys[i % kKeys]));
  };
  fetch(directory, kKeys, subject);
  const weir::Instant now = clock.now();
  const double hit = time_of([&](std::size_t i) {
    if (directory.find(subject(i * 7919), now).freshness != weir::lookup::Freshness::kFresh) fail("it is not known");
  });
  fmt::print("{{\"what\":\"key\",\"partners\":{},\"ns\":{:.1f}}}\n", kKeys, hit);
}

void check(const auto& result) {
  if (!result) fail(result.error().message);
}

void insert(weir::sql::Connection& connection, const std::string& into, const std::string& places,
            std::size_t partners, const auto& values_of) {
  constexpr std::size_t kTogether = 200;
  for (std::size_t first = 0; first < partners; first += kTogether) {
    const std::size_t count = std::min(kTogether, partners - first);
    std::string statement = into;
    std::vector<weir::sql::Value> values;
    for (std::size_t i = 0; i < count; ++i) {
      statement += (i > 0 ? ", " : " ") + places;
      for (auto& value : values_of(first + i)) values.push_back(std::move(value));
    }
    check(connection.query(statement, values));
  }
}

void fill(const weir::sql::Settings& database, std::size_t partners) {
  const weir::SystemClock clock;
  weir::partners::Repository repository({.open = [&] { return weir::sql::open(database); }, .scopes = {}}, clock);
  check(repository.migrate());
  auto connection = weir::sql::open(database);
  check(connection);
  auto transaction = weir::sql::Transaction::begin(**connection, weir::sql::Transaction::Kind::kWriting);
  check(transaction);
  using Values = std::vector<weir::sql::Value>;
  insert(**connection, "INSERT INTO partners (name) VALUES", "(?)", partners,
         [](std::size_t i) { return Values{name_of(i)}; });
  insert(**connection, "INSERT INTO limits (partner, `limit`, service, rate) VALUES", "(?, ?, ?, ?)", partners,
         [](std::size_t i) {
           return Values{name_of(i), std::string("partner-service"), std::string("SAUCE_SERVICE"),
                         std::string("20/s")};
         });
  check(transaction->commit());
}

void measure_misses(std::string_view name, const weir::sql::Settings& database, std::size_t partners) {
  fill(database, partners);
  const weir::SystemClock clock;
  const auto open = [&] {
    return std::make_unique<weir::partners::Repository>(
        weir::partners::Repository::Settings{.open = [&] { return weir::sql::open(database); }, .scopes = {}}, clock);
  };
  Directory directory(clock, settings(1), open, no_redis);
  std::mt19937_64 random(1);
  const auto anybody = [&](std::size_t) { return subject_of(random() % partners); };
  fetch(directory, 10'000, anybody);  // warm
  const auto begin = std::chrono::steady_clock::now();
  const auto before = directory.stats();
  std::size_t records = 0;
  while (std::chrono::steady_clock::now() - begin < kMeasured) {
    fetch(directory, 10'000, anybody);
    records += 10'000;
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  const auto after = directory.stats();
  fmt::print("{{\"what\":\"miss\",\"database\":\"{}\",\"partners\":{},\"records\":{:.0f},\"queries\":{:.0f}}}\n",
             name, partners, static_cast<double>(records) / passed.count(),
             static_cast<double>(after.queries - before.queries) / passed.count());
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view what = count > 1 ? arguments[1] : "";
  if (what == "hits") {
    measure_hits(10'000);
    measure_hits(1'000'000);
    measure_key();
    return 0;
  }
  if (what == "misses" && count > 2) {
    const std::size_t partners = count > 3 ? std::strtoul(arguments[3], nullptr, 10) : 1'000'000;
    weir::sql::Settings file;
    file.path = std::string(arguments[2]) + "/policies.db";
    file.timeout = std::chrono::minutes(10);
    measure_misses("SQLite", file, partners);
    if (!weir::sql::testing::MariaDbServer::available()) {
      fmt::print(stderr, "left out: MariaDB (install mariadb-server)\n");
      return 0;
    }
    weir::sql::testing::MariaDbServer server;
    weir::sql::Settings database = server.settings();
    database.timeout = std::chrono::minutes(10);
    measure_misses("MariaDB", database, partners);
    return 0;
  }
  fmt::print(stderr, "usage: bench_policies hits | misses FOLDER [PARTNERS]\n");
  return 2;
}
