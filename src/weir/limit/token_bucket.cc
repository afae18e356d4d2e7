// SPDX-License-Identifier: Apache-2.0
#include "weir/limit/token_bucket.h"

#include <algorithm>
#include <numeric>

#include "weir/limit/gcra.h"

namespace weir::limit {
namespace {

using gcra::Wide;

// debt * to / from, rounded up; the factors are periods, below 2^55. Split so that no product needs more than 128
// bits: a debt is at most kMaxUnits plus what a clock step refills, below 2^56 units.
Wide rescale(Wide debt, std::int64_t from, std::int64_t to) {
  const Wide units = debt / from;
  const Wide rest = debt % from;
  return units * to + (rest * to + from - 1) / from;
}

}  // namespace

TokenBucket::TokenBucket(const Numbers& reduced)
    : numbers_(reduced),
      full_(static_cast<Wide>(reduced.capacity) * reduced.period),
      overdraft_(static_cast<Wide>(reduced.debt) * reduced.period),
      narrow_(reduced.count <= kMaxNarrowCount && gcra::fits_narrow(scaled<Wide>())) {}

Result<TokenBucket> TokenBucket::create(const Numbers& numbers) {
  const auto [count, period, capacity, second, debt] = numbers;
  if (const char* fault = common_fault(capacity, debt, second)) return invalid(fault);
  if (!in(count, 1, kMaxUnits)) return invalid("a rate must allow 1 to 10^12 units");
  if (!is_period(period, second)) return invalid("the period of a rate must be 1 ms to 400 days");
  const Wide longest = static_cast<Wide>(count) * kMaxRefillSeconds * second;
  if (static_cast<Wide>(std::max(capacity, debt)) * period > longest) {
    return invalid("refilling the whole burst must take at most 10 years");
  }
  const std::int64_t common = std::gcd(count, period);
  return TokenBucket({count / common, period / common, capacity, second, debt});
}

TokenBucket TokenBucket::with_capacity(Cost capacity) const {
  Numbers numbers = numbers_;
  numbers.capacity = capacity;
  return TokenBucket(numbers);
}

void TokenBucket::step_wide(std::span<std::int64_t> state, Ticks now, Cost cost, Outcome& outcome) const {
  auto arrival = gcra::load<Wide>(state);
  gcra::step(scaled<Wide>(), arrival, now, cost, outcome);
  gcra::store(state, arrival);
}

void TokenBucket::give_back(std::span<std::int64_t> state, Ticks now, Cost cost, Ticks) const {
  if (state_words() == 1) return gcra::give_back(scaled<std::int64_t>(), state[0], now, cost);
  auto arrival = gcra::load<Wide>(state);
  gcra::give_back(scaled<Wide>(), arrival, now, cost);
  gcra::store(state, arrival);
}

void TokenBucket::take(std::span<std::int64_t> state, Ticks now, Cost cost, Ticks) const {
  if (state_words() == 1) return gcra::take(scaled<std::int64_t>(), state[0], now, cost);
  auto arrival = gcra::load<Wide>(state);
  gcra::take(scaled<Wide>(), arrival, now, cost);
  gcra::store(state, arrival);
}

bool TokenBucket::is_initial(std::span<const std::int64_t> state, Ticks now) const {
  if (state_words() == 1) return state[0] <= now * numbers_.count;
  return gcra::load<Wide>(state) <= static_cast<Wide>(now) * numbers_.count;
}

void TokenBucket::carry(const TokenBucket& from, std::span<const std::int64_t> old_state,
                        std::span<std::int64_t> state, const Call& call) const {
  if (*this == from) {
    std::ranges::copy(old_state.first(static_cast<std::size_t>(state_words())), state.begin());
    return;
  }
  const Wide arrival = from.state_words() == 1 ? Wide{old_state[0]} : gcra::load<Wide>(old_state);
  const Wide owed = gcra::debt(from.scaled<Wide>(), arrival, static_cast<Wide>(call.now) * from.numbers_.count);
  const Wide carried = std::min(rescale(owed, from.numbers_.period, numbers_.period), full_);
  const Wide start = static_cast<Wide>(call.now) * numbers_.count;
  const Wide fresh = carried > 0 ? start + carried : Wide{0};
  if (state_words() == 1) return gcra::store(state, static_cast<std::int64_t>(fresh));
  gcra::store(state, fresh);
}

}  // namespace weir::limit
