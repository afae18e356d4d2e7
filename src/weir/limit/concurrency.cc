// SPDX-License-Identifier: Apache-2.0
#include "weir/limit/concurrency.h"

#include <algorithm>
#include <cassert>

namespace weir::limit {

Result<Concurrency> Concurrency::create(const Numbers& numbers) {
  const auto& [capacity, lease, second] = numbers;
  if (const char* fault = common_fault(capacity, 0, second)) return invalid(fault);
  if (capacity > kMaxCapacity) return invalid("at most 1000000 requests may run at the same time");
  if (!is_period(lease, second)) return invalid("a lease must last 1 ms to 400 days");
  return Concurrency(numbers);
}

// A lease that ends later was written before the clock went back far.
Ticks Concurrency::latest_end(const Leases& leases, Ticks now) const {
  const Ticks longest = std::max(numbers_.lease, leases.note().longest);
  return now + longest + kClockStepSeconds * numbers_.ticks_per_second;
}

void Concurrency::decide(std::span<std::int64_t> state, const Call& call, Cost cost, Outcome& outcome) const {
  assert(cost == 0 || call.lease != LeaseId{});
  const Leases leases(state[0]);
  const Ticks now = call.now;
  const Cost capacity = numbers_.capacity;
  const Ticks latest = latest_end(leases, now);
  Cost held = 0;
  Ticks last_end = now;
  bool known = false;
  for (std::uint32_t i = 0; i < leases.size(); ++i) {
    Lease& lease = leases[i];
    const bool jumped = lease.ends_at > latest;
    const Ticks ends_at = jumped ? now + numbers_.lease : lease.ends_at;
    if (jumped && cost > 0) [[unlikely]]
      lease.ends_at = ends_at;
    if (ends_at <= now) continue;
    held += lease.cost;
    last_end = std::max(last_end, ends_at);
    known |= lease.id == call.lease;
  }
  outcome.admitted = known || cost <= capacity - held;
  outcome.delay = 0;
  outcome.at = now;
  outcome.next_after.reset();
  outcome.retry_after.reset();
  if (outcome.admitted) {
    outcome.retry_after = 0;
  } else if (cost <= capacity) {
    outcome.retry_after = numbers_.ticks_per_second;
  }
  if (outcome.admitted && !known && cost > 0) {
    held += cost;
    last_end = std::max(last_end, now + numbers_.lease);
  }
  outcome.remaining = std::max<Cost>(0, capacity - held);
  outcome.reset_after = last_end - now;
}

void Concurrency::commit(std::span<std::int64_t> state, const Call& call, Cost cost) const {
  Leases leases(state[0]);
  bool known = false;
  leases.erase_if([&](const Lease& lease) {
    const bool alive = lease.ends_at > call.now;
    known |= alive && lease.id == call.lease;
    return !alive;
  });
  if (known) return;
  const Ticks longest = std::max(leases.note().longest, numbers_.lease);
  leases.push_back({call.lease, cost, call.now + numbers_.lease}, static_cast<std::uint32_t>(numbers_.capacity));
  leases.set_note({longest});
}

// The lease of this name that is alive, or size().
std::uint32_t Concurrency::find(const Leases& leases, const Call& call) {
  for (std::uint32_t i = 0; i < leases.size(); ++i) {
    if (leases[i].id == call.lease && leases[i].ends_at > call.now) return i;
  }
  return leases.size();
}

bool Concurrency::end(std::span<std::int64_t> state, const Call& call) const {
  Leases leases(state[0]);
  const std::uint32_t found = find(leases, call);
  if (found == leases.size()) return false;
  leases.erase(found);
  return true;
}

bool Concurrency::renew(std::span<std::int64_t> state, const Call& call, Ticks least) const {
  Leases leases(state[0]);
  const std::uint32_t found = find(leases, call);
  if (found == leases.size()) return false;
  const Ticks lease = std::max(numbers_.lease, least);
  Ticks& ends_at = leases[found].ends_at;
  ends_at = ends_at > latest_end(leases, call.now) ? call.now + lease : std::max(ends_at, call.now + lease);
  leases.set_note({std::max(leases.note().longest, lease)});
  return true;
}

bool Concurrency::is_initial(std::span<const std::int64_t> state, Ticks now) const {
  std::int64_t word = state[0];
  const Leases leases(word);
  for (std::uint32_t i = 0; i < leases.size(); ++i) {
    if (leases[i].ends_at > now) return false;
  }
  return true;
}

void Concurrency::carry(const Concurrency&, std::span<const std::int64_t> old_state, std::span<std::int64_t> state,
                        const Call&) const {
  state[0] = old_state[0];
}

void Concurrency::release(std::span<std::int64_t> state) { Leases(state[0]).release(); }

std::uint64_t Concurrency::owned_bytes(std::span<const std::int64_t> state) {
  std::int64_t word = state[0];
  return Leases(word).bytes();
}

}  // namespace weir::limit
