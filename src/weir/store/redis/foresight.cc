// SPDX-License-Identifier: Apache-2.0
#include "weir/store/redis/foresight.h"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <variant>

#include "weir/limit/ranges.h"
#include "weir/store/redis/wire.h"

namespace weir::store {
namespace {

using limit::Cost;
using limit::Limit;
using limit::Outcome;
using limit::Ticks;

constexpr limit::LeaseId kNobody{1, 1};  // its lease is never kept

// What is never taken by anybody changes nothing in a state but what a jump of the clock has spoilt.
void repair(const Limit& limit, StateWords& words, const limit::Call& call) {
  Outcome refused;
  limit.step(words, call, limit::kMaxUnits + 1, refused);
}

// How long so many units take to come in by a bucket.
Ticks refill(const Limit& limit, Cost units) {
  const limit::TokenBucket::Numbers numbers = bucket_numbers(limit);
  const __int128 work = static_cast<__int128>(units) * numbers.period;
  return static_cast<Ticks>((work + numbers.count - 1) / numbers.count);
}

bool is_bucket(const Limit& limit) { return limit.holds<limit::TokenBucket>() || limit.holds<limit::LeakyBucket>(); }

Ticks second_of(const Limit& limit) {
  return std::visit([](const auto& algorithm) { return algorithm.numbers().ticks_per_second; }, limit.algorithm());
}

// Until a cost passes that does not pass now.
Ticks wait_for(const Limit& limit, const Outcome& seen, Cost cost) {
  const Cost lacking = cost - seen.remaining;
  if (limit.holds<limit::Concurrency>()) return second_of(limit);
  if (lacking == 1 && seen.next_after) return *seen.next_after;
  if (is_bucket(limit)) return seen.next_after.value_or(0) + refill(limit, lacking - 1);
  return seen.reset_after;
}

// Until nothing of it is used any more, when a cost has been taken.
Ticks reset_with(const Limit& limit, const Outcome& seen, Cost cost) {
  if (is_bucket(limit)) return seen.reset_after + refill(limit, cost);
  if (const auto* log = std::get_if<limit::SlidingLog>(&limit.algorithm())) return log->numbers().window;
  if (const auto* leases = std::get_if<limit::Concurrency>(&limit.algorithm())) return leases->numbers().lease;
  return seen.reset_after;
}

// In a line, behind those who are in it.
Ticks delay_of(const Limit& limit, const Outcome& seen) {
  const auto* line = std::get_if<limit::LeakyBucket>(&limit.algorithm());
  return line == nullptr ? 0 : std::max<Ticks>(0, seen.reset_after - refill(limit, line->numbers().undelayed));
}

}  // namespace

Foreseen foresee(const Limit& limit, const StateWords& words, const limit::Call& call, Cost cost) {
  Foreseen foreseen;
  foreseen.seen = limit.peek(words, call);
  StateWords after = words;
  foreseen.asked = limit.step(after, call, cost);
  return foreseen;
}

Carried carried(const Limit& written, std::string_view state, const Limit& limit, const limit::Call& call) {
  StateWords before = read_state(written, state, call.wall);
  repair(written, before, call);
  Carried result;
  limit.carry(written, before, result.words, call);
  result.used = written.capacity() - written.peek(before, call).remaining;
  return result;
}

StateWords state_of(const RedisKind::Variant& variant, std::string_view head, const FoundSlot* slot,
                    const limit::Call& call) {
  if (slot == nullptr) return {};
  if (slot->head == head) {
    StateWords words = read_state(variant.limit, slot->state, call.wall);
    repair(variant.limit, words, call);
    return words;
  }
  const auto written = read_head(slot->head);
  const bool goes_on = written && same_algorithm(*written, variant.limit);
  return goes_on ? carried(*written, slot->state, variant.limit, call).words : StateWords{};
}

Outcome foresee(const Limit& limit, const Outcome& seen, const limit::Call& call, Cost cost) {
  if (seen.remaining == limit.capacity() && seen.reset_after == 0 && !limit.keeps_entries()) {
    StateWords fresh{};
    limit::Call alone = call;
    alone.lease = kNobody;
    return limit.step(fresh, alone, cost);
  }
  Outcome asked = seen;
  asked.admitted = cost <= seen.remaining;
  asked.retry_after = 0;
  if (!asked.admitted) {
    asked.retry_after = cost > limit.capacity() ? std::nullopt : std::optional(wait_for(limit, seen, cost));
    return asked;
  }
  if (cost == 0) return asked;
  asked.remaining -= cost;
  asked.delay = delay_of(limit, seen);
  asked.reset_after = reset_with(limit, seen, cost);
  if (!asked.next_after && !limit.holds<limit::Concurrency>()) {
    asked.next_after = is_bucket(limit) ? refill(limit, 1) : asked.reset_after;
  }
  return asked;
}

}  // namespace weir::store
