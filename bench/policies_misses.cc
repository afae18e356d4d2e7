// SPDX-License-Identifier: Apache-2.0
//
// What it takes to look policies up in a database of many partners, one limit each, with SQLite and with a MariaDB of
// its own: alone, and while many requests wait. Prints one JSON object a line for each round.
//
//   bench_policies_misses FOLDER PARTNERS ROUNDS
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <random>
#include <semaphore>
#include <string>
#include <string_view>
#include <vector>

#include "cpu_time.h"
#include "weir/lookup/directory.h"
#include "weir/partners/repository.h"
#include "weir/sql/testing/mariadb_server.h"
#include "weir/sql/transaction.h"

namespace weir::bench {
namespace {

using lookup::Directory;
using partners::Subject;
using Seconds = std::chrono::duration<double>;
using WallClock = std::chrono::steady_clock;

constexpr std::size_t kAlone = 3'000;       // look-ups of a round, one after the other
constexpr std::size_t kTogether = 100'000;  // of a round, so many at a time:
constexpr std::ptrdiff_t kWaiting = 1000;
constexpr std::size_t kRowsInserted = 500;  // by one statement

[[noreturn]] void fail(std::string_view why) {
  fmt::print(stderr, "bench_policies_misses: {}\n", why);
  std::exit(1);
}

void check(const auto& result) {
  if (!result) fail(result.error().message);
}

// In the order of their numbers, so that filling the tables goes from one end to the other.
std::string name_of(std::size_t partner) { return fmt::format("partner-{:07}", partner); }

struct Database {
  std::string name;
  sql::Settings settings;
  pid_t server = 0;  // 0: this process
  std::size_t partners = 0;
};

std::vector<sql::Value> partner_row(std::size_t partner) { return {name_of(partner)}; }
std::vector<sql::Value> limit_row(std::size_t partner) {
  return {name_of(partner), std::string("partner-service"), std::string("SAUCE_SERVICE"), std::string("20/s")};
}

void insert(sql::Connection& connection, const std::string& into, std::size_t count, const auto& row) {
  const std::string places = "(?" + [&] {
    std::string more;
    for (std::size_t i = 1; i < row(0).size(); ++i) more += ", ?";
    return more;
  }() + ")";
  for (std::size_t first = 0; first < count; first += kRowsInserted) {
    std::string statement = into;
    std::vector<sql::Value> values;
    for (std::size_t i = first; i < std::min(first + kRowsInserted, count); ++i) {
      statement += (i > first ? ", " : " ") + places;
      std::ranges::move(row(i), std::back_inserter(values));
    }
    check(connection.query(statement, values));
  }
}

void fill(const Database& database, const Clock& clock) {
  partners::Repository repository({.open = [&] { return sql::open(database.settings); }, .scopes = {}}, clock);
  check(repository.migrate());
  auto connection = sql::open(database.settings);
  check(connection);
  auto transaction = sql::Transaction::begin(**connection, sql::Transaction::Kind::kWriting);
  check(transaction);
  insert(**connection, "INSERT INTO partners (name) VALUES", database.partners, partner_row);
  insert(**connection, "INSERT INTO limits (partner, `limit`, service, rate) VALUES", database.partners, limit_row);
  check(transaction->commit());
}

// Anybody, over and over: as good as never the same twice while it is known.
class Strangers {
 public:
  explicit Strangers(std::size_t partners) : partners_(partners) {}
  Subject next() { return {Subject::Kind::kPartner, name_of(random_() % partners_)}; }

 private:
  const std::size_t partners_;
  std::mt19937_64 random_{1};
};

// Asks for so many, with so many waiting at a time, and waits until the last has come.
void look_up(Directory& directory, Strangers& strangers, std::size_t count, std::ptrdiff_t waiting) {
  std::counting_semaphore<> places(waiting);
  for (std::size_t i = 0; i < count; ++i) {
    places.acquire();
    directory.want(strangers.next(), [&](const lookup::KnownPtr& known) {
      if (known == nullptr) fail("a look-up failed");
      places.release();
    });
  }
  for (std::ptrdiff_t i = 0; i < waiting; ++i) places.acquire();
}

void measure_alone(const Database& database, Directory& directory, Strangers& strangers) {
  std::vector<double> took;
  for (std::size_t i = 0; i < kAlone; ++i) {
    const auto begun = WallClock::now();
    look_up(directory, strangers, 1, 1);
    took.push_back(Seconds(WallClock::now() - begun).count() * 1e6);
  }
  std::ranges::sort(took);
  fmt::print("{{\"what\":\"alone\",\"database\":\"{}\",\"partners\":{},\"p50\":{:.1f},\"p99\":{:.1f}}}\n",
             database.name, database.partners, took[kAlone / 2], took[kAlone * 99 / 100]);
}

void measure_together(const Database& database, Directory& directory, Strangers& strangers) {
  Watched watched{{"gateway", {::getpid()}}};
  if (database.server != 0) watched["server"] = {database.server};
  const auto cpu_before = cpu_times_of(watched);
  const auto queries_before = directory.stats().queries;
  const auto begun = WallClock::now();
  look_up(directory, strangers, kTogether, kWaiting);
  const double passed = Seconds(WallClock::now() - begun).count();
  const auto cpu = difference(cpu_times_of(watched), cpu_before);
  const auto queries = static_cast<double>(directory.stats().queries - queries_before);
  std::uint64_t busy = 0;
  for (const auto& [name, time] : cpu) busy += time.running;
  fmt::print(
      "{{\"what\":\"together\",\"database\":\"{}\",\"partners\":{},\"records\":{:.1f},\"queries\":{:.1f},"
      "\"cpu_us\":{:.2f},\"gateway_cpu_us\":{:.2f}}}\n",
      database.name, database.partners, kTogether / passed, queries / passed,
      static_cast<double>(busy) / 1000 / kTogether,
      static_cast<double>(cpu.at("gateway").running) / 1000 / kTogether);
}

void measure(const Database& database, int rounds) {
  const SystemClock clock;
  const auto begun = WallClock::now();
  fill(database, clock);
  fmt::print(stderr, "{}: filled in {:.0f} s\n", database.name, Seconds(WallClock::now() - begun).count());
  const auto open = [&] {
    return std::make_unique<partners::Repository>(
        partners::Repository::Settings{.open = [&] { return sql::open(database.settings); }, .scopes = {}}, clock);
  };
  Directory directory(clock,
                      {.lifetimes = {}, .most = 1, .readers = 2, .poll = std::chrono::hours(1), .snapshot = {}}, open,
                      [](const auto&) { return nullptr; });
  Strangers strangers(database.partners);
  look_up(directory, strangers, kTogether, kWaiting);  // connections, statements, and what the system keeps of files
  for (int round = 0; round < rounds; ++round) {
    measure_alone(database, directory, strangers);
    measure_together(database, directory, strangers);
  }
}

void measure_sqlite(const std::string& folder, std::size_t partners, int rounds) {
  Database database{.name = "SQLite", .settings = {}, .partners = partners};
  database.settings.path = folder + "/policies.db";
  database.settings.timeout = std::chrono::minutes(10);
  measure(database, rounds);
}

void measure_mariadb(std::size_t partners, int rounds) {
  if (!sql::testing::MariaDbServer::available()) {
    fmt::print(stderr, "left out: MariaDB (install mariadb-server)\n");
    return;
  }
  const sql::testing::MariaDbServer server({"--innodb-buffer-pool-size=512M", "--innodb-log-file-size=256M"});
  Database database{.name = "MariaDB", .settings = server.settings(), .server = server.pid(), .partners = partners};
  database.settings.timeout = std::chrono::minutes(10);
  measure(database, rounds);
}

}  // namespace
}  // namespace weir::bench

int main(int count, char** arguments) {
  if (count != 4) weir::bench::fail("usage: bench_policies_misses FOLDER PARTNERS ROUNDS");
  const std::size_t partners = std::strtoul(arguments[2], nullptr, 10);
  const int rounds = std::atoi(arguments[3]);
  weir::bench::measure_sqlite(arguments[1], partners, rounds);
  weir::bench::measure_mariadb(partners, rounds);
}
