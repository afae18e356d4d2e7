// SPDX-License-Identifier: Apache-2.0
#include "weir/limit/limit.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <type_traits>

namespace weir::limit {
namespace {

template <class A>
concept KeepsEntries = requires(const A& algorithm, std::span<std::int64_t> state) { A::release(state); };

template <class A>
concept CanOwe = requires(const A& algorithm, std::span<std::int64_t> state) { algorithm.take(state, 0, 0, 0); };

}  // namespace

int Limit::state_words() const {
  return std::visit([](const auto& algorithm) { return algorithm.state_words(); }, algorithm_);
}

Cost Limit::capacity() const {
  return std::visit([](const auto& algorithm) { return algorithm.capacity(); }, algorithm_);
}

bool Limit::has_jitter() const {
  if (const auto* fixed = std::get_if<FixedWindow>(&algorithm_)) return fixed->numbers().alignment.jitter;
  const auto* sliding = std::get_if<SlidingWindow>(&algorithm_);
  return sliding != nullptr && sliding->numbers().alignment.jitter;
}

void Limit::step_other(std::span<std::int64_t> state, const Call& call, Cost cost, Outcome& outcome) const {
  const auto run = [&]<class A>(const A& algorithm) {
    if constexpr (KeepsEntries<A>) {
      algorithm.decide(state, call, cost, outcome);
      if (outcome.admitted && cost > 0) algorithm.commit(state, call, cost);
    } else {
      algorithm.step(state, algorithm.time(call), cost, outcome);
    }
  };
  std::visit(run, algorithm_);
}

void Limit::decide(std::span<std::int64_t> state, const Call& call, Cost cost, Outcome& outcome) const {
  if (const auto* log = std::get_if<SlidingLog>(&algorithm_)) return log->decide(state, call, cost, outcome);
  std::get<Concurrency>(algorithm_).decide(state, call, cost, outcome);
}

void Limit::commit(std::span<std::int64_t> state, const Call& call, Cost cost) const {
  if (const auto* log = std::get_if<SlidingLog>(&algorithm_)) return log->commit(state, call, cost);
  std::get<Concurrency>(algorithm_).commit(state, call, cost);
}

Outcome Limit::peek(std::span<const std::int64_t> state, const Call& call) const {
  std::array<std::int64_t, kMaxStateWords> copy{};  // what it owns is only looked at
  std::ranges::copy(state.first(static_cast<std::size_t>(state_words())), copy.begin());
  return step(copy, call, 0);
}

void Limit::give_back(std::span<std::int64_t> state, const Call& call, Cost cost, Ticks at) const {
  const auto run = [&]<class A>(const A& algorithm) {
    if constexpr (std::is_same_v<A, Concurrency>) {
      algorithm.end(state, call);
    } else {
      algorithm.give_back(state, algorithm.time(call), cost, at);
    }
  };
  std::visit(run, algorithm_);
}

void Limit::take(std::span<std::int64_t> state, const Call& call, Cost cost, Ticks at) const {
  const auto run = [&]<class A>(const A& algorithm) {
    if constexpr (CanOwe<A>) algorithm.take(state, algorithm.time(call), cost, at);
  };
  std::visit(run, algorithm_);
}

bool Limit::renew(std::span<std::int64_t> state, const Call& call, Ticks least) const {
  const auto* concurrency = std::get_if<Concurrency>(&algorithm_);
  return concurrency != nullptr && concurrency->renew(state, call, least);
}

bool Limit::is_initial_other(std::span<const std::int64_t> state, const Call& call) const {
  return std::visit([&](const auto& algorithm) { return algorithm.is_initial(state, algorithm.time(call)); },
                    algorithm_);
}

void Limit::carry(const Limit& from, std::span<std::int64_t> old_state, std::span<std::int64_t> state,
                  const Call& call) const {
  const auto convert = [&]<class To, class From>(const To& to, const From& old) {
    if constexpr (std::is_same_v<To, From>) {
      to.carry(old, old_state, state, call);
    } else {
      from.release(old_state);
    }
  };
  std::visit(convert, algorithm_, from.algorithm_);
}

void Limit::realign(std::span<std::int64_t> state, const Call& from, const Call& to) const {
  if (!has_jitter()) return;
  if (const auto* fixed = std::get_if<FixedWindow>(&algorithm_)) return fixed->realign(state, from, to);
  std::get<SlidingWindow>(algorithm_).realign(state, from, to);
}

void Limit::release(std::span<std::int64_t> state) const {
  std::visit(
      [&]<class A>(const A&) {
        if constexpr (KeepsEntries<A>) A::release(state);
      },
      algorithm_);
  std::ranges::fill(state, 0);
}

std::uint64_t Limit::owned_bytes(std::span<const std::int64_t> state) const {
  return std::visit(
      [&]<class A>(const A&) -> std::uint64_t {
        if constexpr (KeepsEntries<A>) return A::owned_bytes(state);
        return 0;
      },
      algorithm_);
}

}  // namespace weir::limit
