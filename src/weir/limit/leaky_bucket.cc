// SPDX-License-Identifier: Apache-2.0
#include "weir/limit/leaky_bucket.h"

#include <algorithm>

#include "weir/limit/gcra.h"

namespace weir::limit {

Result<LeakyBucket> LeakyBucket::create(const Numbers& numbers) {
  const auto& [count, period, queue, undelayed, second] = numbers;
  if (!in(queue, 0, kMaxUnits - 1)) return invalid("a queue must have 0 to 10^12 - 1 places");
  if (!in(undelayed, 0, queue)) return invalid("no more requests can pass undelayed than the queue has places");
  const auto bucket =
      TokenBucket::create({.count = count, .period = period, .capacity = queue + 1, .ticks_per_second = second});
  if (!bucket) return std::unexpected(bucket.error());
  return LeakyBucket(numbers, *bucket);
}

template <class Int>
void LeakyBucket::step_scaled(Int& arrival, Ticks now, Cost cost, Outcome& outcome) const {
  const gcra::Bucket<Int> bucket = bucket_.scaled<Int>();
  const Int start = static_cast<Int>(now) * bucket.count;
  const Int ahead = gcra::debt(bucket, arrival, start);
  gcra::step(bucket, arrival, now, cost, outcome);
  const Int undelayed = static_cast<Int>(numbers_.undelayed) * bucket.period;
  if (outcome.admitted && cost > 0 && ahead > undelayed) {
    outcome.delay = gcra::divide_up<Int>(ahead - undelayed, bucket.count);
  }
}

void LeakyBucket::step(std::span<std::int64_t> state, Ticks now, Cost cost, Outcome& outcome) const {
  if (state_words() == 1) return step_scaled(state[0], now, cost, outcome);
  auto arrival = gcra::load<gcra::Wide>(state);
  step_scaled(arrival, now, cost, outcome);
  gcra::store(state, arrival);
}

}  // namespace weir::limit
