// SPDX-License-Identifier: Apache-2.0
//
// What policies cost that are known in the process: a look-up, all that a request with an API key asks of them, and
// the memory that records take. Prints one JSON object a line. Everybody is asked for in random order. Times are
// processor time of one thread, the best of seven passes: whatever else the machine does can only add.
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <semaphore>
#include <string>
#include <string_view>
#include <vector>

#include "weir/config/load.h"
#include "weir/gateway/generation.h"
#include "weir/gateway/partner_view.h"
#include "weir/gateway/resolver.h"
#include "weir/lookup/directory.h"
#include "weir/partners/digest.h"

namespace weir::bench {
namespace {

using lookup::Directory;
using partners::Subject;

constexpr std::size_t kVisits = 1 << 20;
constexpr int kPasses = 7;
constexpr std::ptrdiff_t kWaiting = 1000;
constexpr std::string_view kConfig = R"(
listeners: [{address: "127.0.0.1:0"}]
upstreams: {main: {url: "http://127.0.0.1:1"}}
services:
  SAUCE_SERVICE: {upstream: main}
  SAUCE_SERVICE_1: {upstream: main, paths: [/one]}
  SAUCE_SERVICE_2: {upstream: main, paths: [/two]}
callers: [{api_key: {header: X-Api-Key}}]
policies: {sql: {url: "sqlite:policies.db"}}
limits: [{name: partner-service, per: [partner, service], rate: policies}]
)";

[[noreturn]] void fail(std::string_view why) {
  fmt::print(stderr, "bench_policies_hits: {}\n", why);
  std::exit(1);
}

std::string partner_name(std::size_t number) { return fmt::format("partner-{:07}", number); }
std::string key_of(std::size_t number) { return fmt::format("weir_{:043}", number); }
Subject partner_subject(std::size_t number) { return {Subject::Kind::kPartner, partner_name(number)}; }
Subject key_subject(std::size_t number) { return partners::subject_of(partners::digest_of(key_of(number))); }

partners::LimitRow row_of(const std::string& partner, std::size_t number) {
  partners::LimitRow row;
  row.limit = "partner-service";
  row.owner = {partners::OwnerKind::kPartner, partner};
  row.service = number == 0 ? "SAUCE_SERVICE" : fmt::format("SAUCE_SERVICE_{}", number);
  row.rate = "20/s";
  row.stamp.changed_by = "operator@example.com";
  return row;
}

partners::Record partner_record(const std::string& name, std::size_t rows) {
  partners::PartnerRecord record;
  record.partner = {.name = name, .plan = "gold", .enabled = true, .note = {}, .stamp = {}};
  record.partner.stamp.changed_by = "operator@example.com";
  for (std::size_t i = 0; i < rows; ++i) record.limits.push_back(row_of(name, i));
  return record;
}

partners::Record key_record(const std::string& partner) {
  partners::Key key;
  key.id = "key_0123456789ab";
  key.partner = partner;
  key.stamp.changed_by = "operator@example.com";
  return key;
}

// Knows so many partners with so many rows each, at once, and any key, as one of theirs.
class Everybody final : public partners::Source {
 public:
  struct Size {
    std::size_t partners = 0;
    std::size_t rows = 1;
  };
  explicit Everybody(const Size& size) : size_(size) {}

  Result<partners::Reading> read(std::span<const Subject> subjects) override {
    partners::Reading reading{.revision = 1, .records = {}, .faults = {}};
    for (const Subject& subject : subjects) reading.records.push_back(record_of(subject));
    return reading;
  }
  Result<std::vector<partners::Change>> changes_after(std::int64_t, std::size_t) override {
    return std::vector<partners::Change>();
  }
  Result<std::int64_t> revision() override { return 1; }

 private:
  partners::Record record_of(const Subject& subject) const {
    if (subject.kind == Subject::Kind::kPartner) return partner_record(subject.name, size_.rows);
    if (subject.kind == Subject::Kind::kPlan) return partners::PlanRecord{};
    return key_record(partner_name(std::hash<std::string>()(subject.name) % size_.partners));
  }

  const Size size_;
};

// A directory that has everything at hand once it was asked for.
std::unique_ptr<Directory> directory_of(const Clock& clock, const Everybody::Size& size) {
  return std::make_unique<Directory>(
      clock,
      Directory::Settings{.lifetimes = {.present = std::chrono::hours(10), .absent = std::chrono::hours(10)},
                          .most = size.partners * (size.rows + 8),
                          .readers = 1,
                          .poll = std::chrono::hours(1),
                          .snapshot = {}},
      [size] { return std::make_unique<Everybody>(size); }, [](const auto&) { return nullptr; });
}

// Asks for all of them, so many at a time, and waits until the last has come.
void fetch(Directory& directory, std::size_t count, const auto& subject) {
  std::counting_semaphore<> places(kWaiting);
  for (std::size_t i = 0; i < count; ++i) {
    places.acquire();
    directory.want(subject(i), [&](const lookup::KnownPtr& known) {
      if (known == nullptr) fail("a look-up failed");
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

std::size_t allocated() {
  const auto figures = ::mallinfo2();
  return figures.uordblks + figures.hblkhd;
}

double time_of(const auto& look_up) {
  double best = 1e9;
  for (int pass = 0; pass < kPasses; ++pass) {
    const std::int64_t before = thread_time();
    for (std::size_t i = 0; i < kVisits; ++i) look_up(i);
    best = std::min(best, static_cast<double>(thread_time() - before) / kVisits);
  }
  return best;
}

void print_time(std::string_view what, std::size_t partners, double ns) {
  fmt::print("{{\"what\":\"{}\",\"partners\":{},\"ns\":{:.1f}}}\n", what, partners, ns);
}

// In random order, again and again the same one.
template <class Make>
auto visits_of(std::size_t count, const Make& make) {
  std::mt19937_64 random(1);
  std::vector<decltype(make(0))> visits;
  for (std::size_t i = 0; i < kVisits; ++i) visits.push_back(make(random() % count));
  return visits;
}

// The yardstick: how long this machine takes to come by a line of memory, among as many bytes as so many records
// have.
void measure_memory_reads(std::size_t partners) {
  struct alignas(64) Line {
    std::uint32_t next;
  };
  constexpr std::size_t kLinesOfRecord = 16;
  std::vector<Line> lines(partners * kLinesOfRecord);
  std::vector<std::uint32_t> order(lines.size());
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(1));
  for (std::size_t i = 0; i < order.size(); ++i) lines[order[i]].next = order[(i + 1) % order.size()];
  std::uint32_t at = 0;
  print_time("read", partners, time_of([&](std::size_t) { at = lines[at].next; }));
  if (lines[at].next == at) fail("the order is broken");
}

void measure_look_ups(Directory& directory, std::size_t partners, Instant now) {
  const auto subjects = visits_of(partners, partner_subject);
  print_time("find", partners, time_of([&](std::size_t i) {
               if (directory.find(subjects[i], now).freshness != lookup::Freshness::kFresh) fail("it is not known");
             }));
}

// One configuration in force, without anything that runs.
struct Scene {
  SystemClock clock;
  policy::RowNumbersShelf shelf;
  store::MemoryStore store{{}};
  gateway::Resolver resolver;
  gateway::KeyRefresher keys{clock};
  gateway::Generation generation{
      load(), nullptr, {.row_numbers = shelf, .store = store, .resolver = resolver, .keys = keys}};
  gateway::LookupCounters counters;
  gateway::PartnerFindings findings;
  identity::Attributes attributes;
  gateway::LookedUp nothing{false};

  static config::Config load() {
    auto loaded = config::load_text(kConfig, "bench", [](const std::string&) { return std::nullopt; });
    if (!loaded) fail(config::to_text(loaded.error().front()));
    return std::move(loaded->config);
  }

  // As the pipeline asks: whose key it is, then its partner's rows.
  void ask(Directory& directory, const std::string& key, Instant now, WallTime wall) {
    gateway::PartnerView view(directory, generation, {.now = now, .wall = wall, .looked_up = nothing}, findings,
                              counters);
    attributes.reset(generation.identifier.names().size());
    const auto answer = view.find(key);
    attributes.set(identity::kPartner, answer.partner);
    policy::CallerRows rows;
    view.complete(attributes, rows);
    if (!rows.known || rows.partner == nullptr) fail("a request would have to wait");
  }
};

void measure_requests(Scene& scene, Directory& directory, std::size_t partners, Instant now) {
  fetch(directory, partners, key_subject);
  fetch(directory, 1, [](std::size_t) { return Subject{Subject::Kind::kPlan, "gold"}; });
  const WallTime wall = scene.clock.wall();
  for (std::size_t i = 0; i < partners; ++i) scene.ask(directory, key_of(i), now, wall);  // rows are compiled once
  const auto keys = visits_of(partners, key_of);
  print_time("digest", partners, time_of([&](std::size_t i) {
               if (partners::digest_of(keys[i])[0] == 0 && i == 0) fail("unlucky");
             }));
  print_time("request", partners, time_of([&](std::size_t i) { scene.ask(directory, keys[i], now, wall); }));
}

void measure_times(std::size_t partners) {
  measure_memory_reads(partners);
  Scene scene;
  const auto directory = directory_of(scene.clock, {.partners = partners, .rows = 1});
  fetch(*directory, partners, partner_subject);
  const Instant now = scene.clock.now();
  measure_look_ups(*directory, partners, now);
  measure_requests(scene, *directory, partners, now);
}

void print_memory(std::string_view record, std::size_t before, std::size_t count) {
  fmt::print("{{\"what\":\"memory\",\"record\":\"{}\",\"bytes\":{:.1f}}}\n", record,
             static_cast<double>(allocated() - before) / static_cast<double>(count));
}

// Of partners with their rows compiled, and of keys.
void measure_memory(std::size_t rows) {
  constexpr std::size_t kMany = 100'000;
  Scene scene;
  const std::size_t before = allocated();
  const auto directory = directory_of(scene.clock, {.partners = kMany, .rows = rows});
  fetch(*directory, kMany, partner_subject);
  const Instant now = scene.clock.now();
  for (std::size_t i = 0; i < kMany; ++i) {
    gateway::PartnerView view(*directory, scene.generation, {.now = now, .wall = {}, .looked_up = scene.nothing},
                              scene.findings, scene.counters);
    policy::CallerRows caller_rows;
    const std::string name = partner_name(i);
    scene.attributes.reset(scene.generation.identifier.names().size());
    scene.attributes.set(identity::kPartner, name);
    view.complete(scene.attributes, caller_rows);
  }
  print_memory(fmt::format("a partner with {} rows", rows), before, kMany);
  if (rows > 0) return;
  const std::size_t before_keys = allocated();
  fetch(*directory, kMany, key_subject);
  print_memory("a key", before_keys, kMany);
}

}  // namespace
}  // namespace weir::bench

int main() {
  weir::bench::measure_times(100);
  weir::bench::measure_times(10'000);
  weir::bench::measure_times(1'000'000);
  for (const std::size_t rows : {0, 1, 3}) weir::bench::measure_memory(rows);
}
