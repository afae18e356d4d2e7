// SPDX-License-Identifier: Apache-2.0
//
// What the benchmarks of decisions share: a store full of accounts, and a run over them in random order.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "weir/base/fingerprint.h"
#include "weir/store/memory/memory_store.h"

namespace weir::bench {

constexpr limit::Ticks kSecond = 1'000'000'000;
constexpr std::size_t kVisits = 1 << 20;  // before the order repeats

// The instant of a decision: a microsecond after the one before, and a lease that is new.
inline limit::Call call_at(limit::Ticks now) {
  return {.now = now, .wall = now, .phase = 0, .lease = {static_cast<std::uint64_t>(now), 1}};
}

// A store with so many accounts, each of which was charged once, and an order to visit them in.
struct Accounts {
  Accounts(const store::Layout& layout, std::vector<store::Charge> each, std::uint64_t accounts)
      : kind(store.adopt(layout)), charges(std::move(each)), outcomes(charges.size()) {
    for (std::uint64_t i = 0; i < accounts; ++i) {
      names.push_back("partner-" + std::to_string(i));
      subjects.push_back(store.subject(names.back()));
      // All at the same instant, so that none is full again, and forgotten, before the last one is there.
      store.acquire(kind, subjects.back(), charges, {.lease = {i + 1, 1}}, outcomes);
    }
    std::mt19937_64 random(1);
    for (std::size_t i = 0; i < kVisits; ++i) {
      order.push_back(static_cast<std::uint32_t>(random() % accounts));
      visits.push_back(subjects[order.back()]);
    }
  }

  double bytes_per_account() const {
    const auto stats = store.stats();
    return static_cast<double>(stats.bytes) / static_cast<double>(stats.accounts);
  }

  store::MemoryStore store{{.max_accounts = 10'000'000, .key = {{1, 2}}}};
  store::MemoryStore::Kind kind;
  std::vector<store::Charge> charges;
  std::vector<limit::Outcome> outcomes;  // room
  std::vector<std::string> names;
  std::vector<Fingerprint> subjects;
  std::vector<std::uint32_t> order;  // of visits: indexes of names
  std::vector<Fingerprint> visits;   // the same, as subjects
};

// Runs `decide(visit, now)`, a microsecond apart.
template <class Decide>
void run(benchmark::State& state, Decide decide, limit::Ticks begin = kSecond) {
  std::size_t next = static_cast<std::size_t>(state.thread_index()) * (kVisits / 2);
  limit::Ticks now = begin;
  for (auto _ : state) {
    benchmark::DoNotOptimize(decide(next % kVisits, now));
    ++next;
    now += 1000;
  }
}

}  // namespace weir::bench
