// SPDX-License-Identifier: Apache-2.0
//
// What a decision costs by algorithm, and what an account takes in memory. Accounts with one limit, and with three
// that count in different ways, visited in random order a microsecond apart. Windows last a second, so that a subject
// has used some of the window before and of this one, as in service. Capacities are large enough to admit everything,
// and buckets fill slowly, so that no account is full again and forgotten.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "accounts.h"
#include "weir/limit/limit.h"

namespace weir::bench {
namespace {

using limit::Limit;

constexpr limit::Cost kMany = 1'000'000'000;

Limit token_bucket() {
  return limit::TokenBucket::create({.count = 50, .period = kSecond, .capacity = kMany}).value();
}
Limit token_bucket_odd() {  // a rate whose state needs two words
  return limit::TokenBucket::create({.count = 2'999, .period = 60 * kSecond, .capacity = kMany}).value();
}
Limit fixed_window() {
  return limit::FixedWindow::create({.capacity = kMany, .alignment = {.window = kSecond}}).value();
}
Limit sliding_window() {
  return limit::SlidingWindow::create({.capacity = kMany, .alignment = {.window = kSecond}}).value();
}
Limit leaky_bucket() { return limit::LeakyBucket::create({.count = 50, .period = kSecond, .queue = kMany}).value(); }
Limit calendar() {
  const auto month = limit::CivilCalendar::create({.unit = limit::CivilCalendar::Unit::kMonth}).value();
  return limit::CalendarQuota::create({.capacity = 1'000'000'000'000}, month).value();
}
Limit sliding_log() {  // at most a hundred requests are remembered
  return limit::SlidingLog::create({.capacity = 10'000, .window = kSecond}).value();
}
Limit concurrency() {  // with leases that run out soon, so that some hundred are alive
  return limit::Concurrency::create({.capacity = 10'000, .lease = kSecond}).value();
}

struct Case {
  std::vector<Limit (*)()> limits;
};

store::Layout layout_of(const Case& one) {
  store::Layout layout{.kind = "partner", .slots = {}};
  for (const auto make : one.limits) layout.slots.push_back({std::to_string(layout.slots.size()), {make()}});
  return layout;
}

std::vector<store::Charge> charges_of(const Case& one) {
  std::vector<store::Charge> charges;
  for (std::size_t i = 0; i < one.limits.size(); ++i) charges.push_back({.slot = static_cast<std::uint16_t>(i)});
  return charges;
}

void decide(benchmark::State& state, const Case& one) {
  Accounts accounts(layout_of(one), charges_of(one), static_cast<std::uint64_t>(state.range(0)));
  state.counters["bytes/account"] = accounts.bytes_per_account();  // one request each
  run(state, [&](std::size_t visit, limit::Ticks now) {
    return accounts.store.acquire(accounts.kind, accounts.visits[visit], accounts.charges, call_at(now),
                                  accounts.outcomes);
  });
}

// Accounts whose logs are full: the oldest entry goes and a new one comes.
void full_log(benchmark::State& state) {
  constexpr std::int64_t kAccounts = 100;
  const auto entries = state.range(0);
  const Limit log = limit::SlidingLog::create({.capacity = entries, .window = entries * kAccounts * 1000}).value();
  store::MemoryStore store{{.max_accounts = 1000, .key = {{1, 2}}}};
  const auto kind = store.adopt({.kind = "partner", .slots = {{"log", {log}}}});
  std::vector<Fingerprint> subjects;
  for (std::int64_t i = 0; i < kAccounts; ++i) subjects.push_back(store.subject(std::to_string(i)));
  const std::uint64_t empty = store.stats().bytes;
  const std::vector<store::Charge> charges(1);
  std::vector<limit::Outcome> outcomes(1);
  std::size_t next = 0;
  const auto ask = [&](limit::Ticks now) {
    return store.acquire(kind, subjects[next++ % subjects.size()], charges, call_at(now), outcomes);
  };
  for (std::int64_t i = 0; i < entries * kAccounts; ++i) ask(i * 1000);
  state.counters["bytes/account"] = static_cast<double>(store.stats().bytes - empty) / kAccounts;
  run(state, [&](std::size_t, limit::Ticks now) { return ask(now); }, entries * kAccounts * 1000);
}

void add(const std::string& name, Case one, const std::vector<std::int64_t>& sizes) {
  auto* bench =
      benchmark::RegisterBenchmark(name.c_str(), [one = std::move(one)](auto& state) { decide(state, one); });
  for (const std::int64_t accounts : sizes) bench->Arg(accounts);
}

void add_all() {
  const std::vector<std::int64_t> sizes{1, 10'000, 1'000'000};
  add("token_bucket", {{token_bucket}}, sizes);
  add("token_bucket, two words", {{token_bucket_odd}}, {10'000});
  add("fixed_window", {{fixed_window}}, sizes);
  add("sliding_window", {{sliding_window}}, sizes);
  add("leaky_bucket", {{leaky_bucket}}, {10'000});
  add("calendar", {{calendar}}, {10'000});
  add("sliding_log", {{sliding_log}}, {10'000});
  add("concurrency", {{concurrency}}, {10'000});
  add("three token buckets", {{token_bucket, token_bucket, token_bucket}}, {10'000});
  add("bucket, fixed and sliding window", {{token_bucket, fixed_window, sliding_window}}, sizes);
  benchmark::RegisterBenchmark("full log", full_log)->Arg(10)->Arg(100)->Arg(1000)->Arg(10'000);
}

}  // namespace
}  // namespace weir::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  weir::bench::add_all();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
