// SPDX-License-Identifier: Apache-2.0
//
// What a decision costs. "Two limits" is one call of MemoryStore::acquire with two charges, so many per minute and so
// many per hour; the numbers are large enough to admit everything, as in bench/peers/decide. Accounts are visited in
// random order. The clock is not read. Bytes are as the store reports them.
#include <benchmark/benchmark.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "accounts.h"
#include "weir/base/fingerprint.h"
#include "weir/decide/decider.h"
#include "weir/identity/identifier.h"
#include "weir/identity/testing/parsed_request.h"
#include "weir/policy/policy.h"
#include "weir/policy/testing/scene.h"
#include "weir/route/router.h"
#include "weir/store/memory/memory_store.h"

namespace weir::bench {
namespace {

limit::Limit bucket(std::int64_t count, limit::Ticks period) {
  return limit::TokenBucket::create({.count = count, .period = period, .capacity = count}).value();
}

constexpr limit::Cost kPerMinute = 1'000'000'000;
constexpr limit::Cost kPerHour = 3 * kPerMinute;

store::Layout two_limits() {
  return {.kind = "partner",
          .slots = {{.identity = "minute", .variants = {bucket(kPerMinute, 60 * kSecond)}},
                    {.identity = "hour", .variants = {bucket(kPerHour, 3600 * kSecond)}}}};
}

constexpr std::array<store::Charge, 2> kCharges{{{.slot = 0}, {.slot = 1}}};

// One store at a time is kept, so that repetitions and thread counts share it.
Accounts& accounts(std::uint64_t count) {
  static std::unique_ptr<Accounts> current;
  if (!current || current->subjects.size() != count) {
    current.reset();
    current = std::make_unique<Accounts>(two_limits(), std::vector(kCharges.begin(), kCharges.end()), count);
  }
  return *current;
}

Accounts* shared = nullptr;

void set_up(const benchmark::State& state) { shared = &accounts(static_cast<std::uint64_t>(state.range(0))); }

void report(benchmark::State& state) {
  if (state.thread_index() != 0) return;
  state.counters["bytes/account"] = shared->bytes_per_account();
  state.counters["bytes/bucket"] = shared->bytes_per_account() / static_cast<double>(kCharges.size());
}

template <class Decide>
void run_and_report(benchmark::State& state, Decide decide) {
  run(state, decide);
  report(state);
}

void two_limits_of_a_known_subject(benchmark::State& state) {
  std::array<limit::Outcome, 2> outcomes;
  run_and_report(state, [&](std::size_t visit, limit::Ticks now) {
    return shared->store.acquire(shared->kind, shared->visits[visit], kCharges, limit::Call::at(now), outcomes);
  });
}

void two_limits_with_the_fingerprint(benchmark::State& state) {
  std::array<limit::Outcome, 2> outcomes;
  run_and_report(state, [&](std::size_t visit, limit::Ticks now) {
    const Fingerprint subject = shared->store.subject(shared->names[shared->order[visit]]);
    return shared->store.acquire(shared->kind, subject, kCharges, limit::Call::at(now), outcomes);
  });
}

// As the first, with the record asked for eight decisions before it is needed.
void two_limits_announced(benchmark::State& state) {
  constexpr std::size_t kAhead = 8;
  std::array<limit::Outcome, 2> outcomes;
  run_and_report(state, [&](std::size_t visit, limit::Ticks now) {
    shared->store.prefetch(shared->kind, shared->visits[(visit + kAhead) % kVisits]);
    return shared->store.acquire(shared->kind, shared->visits[visit], kCharges, limit::Call::at(now), outcomes);
  });
}

// The second of two limits refuses: what a flood costs.
void a_refusal(benchmark::State& state) {
  std::array<limit::Outcome, 2> outcomes;
  const std::array<store::Charge, 2> charges{{{.slot = 0}, {.slot = 1, .cost = kPerHour}}};
  run_and_report(state, [&](std::size_t visit, limit::Ticks) {
    return shared->store.acquire(shared->kind, shared->visits[visit], charges, {}, outcomes);
  });
}

void a_fingerprint(benchmark::State& state) {
  const std::string bytes(static_cast<std::size_t>(state.range(0)), 'x');
  const FingerprintKey key{{1, 2}};
  for (auto _ : state) benchmark::DoNotOptimize(fingerprint(key, bytes));
}

config::Config per_partner() {
  config::Limit minute = policy::testing::limit("minute", {"partner"}, kPerMinute);
  config::Limit hour = policy::testing::limit("hour", {"partner"}, kPerHour);
  hour.rate = config::Rate{kPerHour, std::chrono::hours(1)};
  return policy::testing::with_limits({minute, hour});
}

// From a request whose caller is known to the decision: which limits apply, at which cost, all of them decided.
void the_whole_way(benchmark::State& state) {
  const auto partners = static_cast<std::size_t>(state.range(0));
  const config::Config config = per_partner();
  const route::Router router(config);
  const identity::Identifier identifier(config);
  store::MemoryStore store{{.max_accounts = 10'000'000, .key = {{1, 2}}}};
  policy::RowNumbersShelf shelf;
  const policy::Policy policy(config, router, identifier.names(), store, shelf);
  decide::Lines lines;
  const decide::Decider decider(store, lines);
  const identity::testing::ParsedRequest request("GET /products/12345");
  const http::RequestHead& head = request.head();
  const Accounts& names = *shared;

  route::Route route;
  router.find(head.host, head.path, head.method, route);
  identity::Caller caller;
  caller.attributes.reset(identifier.names().size());
  caller.attributes.set(identity::kMethod, head.method);
  policy::Charges charges;
  decide::Decision decision;
  const auto decide = [&](const std::string& partner, limit::Ticks now) {
    caller.attributes.set(identity::kPartner, partner);
    policy.charge(route, head, caller, charges);
    decider.decide(charges, limit::Call::at(now), decision);
    return decision.admitted;
  };
  for (std::size_t i = 0; i < partners; ++i) decide(names.names[i], 0);
  run_and_report(state,
                 [&](std::size_t visit, limit::Ticks now) { return decide(names.names[names.order[visit]], now); });
}

// One turn over all shards of a store in which nothing is full.
void a_sweep(benchmark::State& state) {
  std::size_t swept = 0;
  for (auto _ : state) {
    for (std::size_t i = 0; i < shared->store.shards(); ++i) benchmark::DoNotOptimize(shared->store.sweep({}));
    swept += shared->subjects.size();
  }
  state.counters["per_account"] =
      benchmark::Counter(static_cast<double>(swept), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void by_size(benchmark::internal::Benchmark* bench) { bench->Setup(set_up)->Arg(1)->Arg(10'000)->Arg(1'000'000); }

BENCHMARK(two_limits_of_a_known_subject)->Apply(by_size)->ThreadRange(1, 2)->UseRealTime();
BENCHMARK(two_limits_with_the_fingerprint)->Apply(by_size)->ThreadRange(1, 2)->UseRealTime();
BENCHMARK(two_limits_announced)->Apply(by_size)->UseRealTime();
BENCHMARK(the_whole_way)->Apply(by_size)->UseRealTime();
BENCHMARK(a_refusal)->Setup(set_up)->Arg(1)->Arg(10'000);
BENCHMARK(a_sweep)->Setup(set_up)->Arg(10'000)->Arg(1'000'000);
BENCHMARK(a_fingerprint)->Arg(8)->Arg(20)->Arg(40);

}  // namespace
}  // namespace weir::bench

BENCHMARK_MAIN();
