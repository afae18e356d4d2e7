// SPDX-License-Identifier: Apache-2.0
//
// What a decision costs. "Two limits" is one call of MemoryStore::acquire with two charges, a bucket per second and
// one per minute; accounts are visited in random order. The clock is not read. Counters: accounts and bytes as the
// store reports them.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "weir/base/fingerprint.h"
#include "weir/store/memory/memory_store.h"

namespace weir {
namespace {

constexpr limit::Ticks kSecond = 1'000'000'000;
constexpr std::size_t kVisits = 1 << 20;  // before the order repeats

limit::Limit bucket(std::int64_t count, limit::Ticks period) {
  return limit::TokenBucket::create({.count = count, .period = period, .capacity = count}).value();
}

store::Layout two_limits() {
  return {.kind = "partner",
          .slots = {{.identity = "second", .variants = {bucket(100, kSecond)}},
                    {.identity = "minute", .variants = {bucket(3000, 60 * kSecond)}}}};
}

constexpr std::array<store::Charge, 2> kCharges{{{.slot = 0}, {.slot = 1}}};

std::string name_of(std::uint64_t account) { return "partner-" + std::to_string(account); }

// A store with so many accounts, each of which was charged once, and an order to visit them in.
struct Fixture {
  explicit Fixture(std::uint64_t accounts) : kind(store.adopt(two_limits())) {
    std::array<limit::Outcome, 2> outcomes;
    for (std::uint64_t i = 0; i < accounts; ++i) {
      names.push_back(name_of(i));
      subjects.push_back(store.subject(names.back()));
      store.acquire(kind, subjects.back(), kCharges, 0, outcomes);
    }
    std::mt19937_64 random(1);
    for (std::size_t i = 0; i < kVisits; ++i) {
      order.push_back(static_cast<std::uint32_t>(random() % accounts));
      visits.push_back(subjects[order.back()]);
    }
  }

  store::MemoryStore store{{.max_accounts = 10'000'000, .key = {{1, 2}}}};
  store::MemoryStore::Kind kind;
  std::vector<std::string> names;
  std::vector<Fingerprint> subjects;
  std::vector<std::uint32_t> order;  // of visits: indexes of names
  std::vector<Fingerprint> visits;   // the same, as subjects
};

// One fixture at a time is kept, so that repetitions and thread counts share it.
Fixture& fixture(std::uint64_t accounts) {
  static std::unique_ptr<Fixture> current;
  if (!current || current->subjects.size() != accounts) {
    current.reset();
    current = std::make_unique<Fixture>(accounts);
  }
  return *current;
}

Fixture* shared = nullptr;

void set_up(const benchmark::State& state) { shared = &fixture(static_cast<std::uint64_t>(state.range(0))); }

void report(benchmark::State& state, const Fixture& at) {
  if (state.thread_index() != 0) return;
  const auto stats = at.store.stats();
  const double bytes = static_cast<double>(stats.bytes) / static_cast<double>(stats.accounts);
  state.counters["bytes/account"] = bytes;
  state.counters["bytes/bucket"] = bytes / static_cast<double>(kCharges.size());
}

// Runs `decide(visit, now)`; time passes so that an account is asked for 25 requests per second and
// practically all are admitted.
template <class Decide>
void run(benchmark::State& state, const Fixture& at, Decide decide) {
  std::size_t next = static_cast<std::size_t>(state.thread_index()) * (kVisits / 2);
  limit::Ticks now = kSecond;
  const limit::Ticks apart = kSecond / 25 / static_cast<limit::Ticks>(at.subjects.size());
  for (auto _ : state) {
    benchmark::DoNotOptimize(decide(next % kVisits, now));
    ++next;
    now += apart;
  }
  report(state, at);
}

void two_limits_of_a_known_subject(benchmark::State& state) {
  std::array<limit::Outcome, 2> outcomes;
  run(state, *shared, [&](std::size_t visit, limit::Ticks now) {
    return shared->store.acquire(shared->kind, shared->visits[visit], kCharges, now, outcomes);
  });
}

void two_limits_with_the_fingerprint(benchmark::State& state) {
  std::array<limit::Outcome, 2> outcomes;
  run(state, *shared, [&](std::size_t visit, limit::Ticks now) {
    const Fingerprint subject = shared->store.subject(shared->names[shared->order[visit]]);
    return shared->store.acquire(shared->kind, subject, kCharges, now, outcomes);
  });
}

// A limit that is exhausted for ever: what a flood costs.
void a_refusal(benchmark::State& state) {
  std::array<limit::Outcome, 2> outcomes;
  const std::array<store::Charge, 2> charges{{{.slot = 0}, {.slot = 1, .cost = 2999}}};
  run(state, *shared, [&](std::size_t visit, limit::Ticks) {
    return shared->store.acquire(shared->kind, shared->visits[visit], charges, 0, outcomes);
  });
}

void a_fingerprint(benchmark::State& state) {
  const std::string bytes(static_cast<std::size_t>(state.range(0)), 'x');
  const FingerprintKey key{{1, 2}};
  for (auto _ : state) benchmark::DoNotOptimize(fingerprint(key, bytes));
}

// One turn over all shards of a store in which nothing is full.
void a_sweep(benchmark::State& state) {
  std::size_t swept = 0;
  for (auto _ : state) {
    for (std::size_t i = 0; i < shared->store.shards(); ++i) benchmark::DoNotOptimize(shared->store.sweep(0));
    swept += shared->subjects.size();
  }
  state.counters["ns/account"] =
      benchmark::Counter(static_cast<double>(swept) / 1e9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void by_size(benchmark::internal::Benchmark* bench) { bench->Setup(set_up)->Arg(1)->Arg(10'000)->Arg(1'000'000); }

BENCHMARK(two_limits_of_a_known_subject)->Apply(by_size)->ThreadRange(1, 2)->UseRealTime();
BENCHMARK(two_limits_with_the_fingerprint)->Apply(by_size)->ThreadRange(1, 2)->UseRealTime();
BENCHMARK(a_refusal)->Setup(set_up)->Arg(1)->Arg(10'000);
BENCHMARK(a_sweep)->Setup(set_up)->Arg(10'000)->Arg(1'000'000);
BENCHMARK(a_fingerprint)->Arg(8)->Arg(20)->Arg(40);

}  // namespace
}  // namespace weir

BENCHMARK_MAIN();
