// SPDX-License-Identifier: Apache-2.0
#include "weir/limit/token_bucket.h"

#include <algorithm>
#include <numeric>

#include "weir/limit/gcra.h"

namespace weir::limit {
namespace {

using gcra::Wide;

constexpr std::int64_t kDay = 86'400;  // seconds
constexpr std::int64_t kMaxPeriod = 400 * kDay;
constexpr std::int64_t kMaxRefill = 10 * 365 * kDay;
constexpr Ticks kMaxTicksPerSecond = 1'000'000'000;

Wide load(std::span<const std::int64_t> state) {
  const auto low = static_cast<std::uint64_t>(state[0]);
  const auto high = static_cast<std::uint64_t>(state[1]);
  return static_cast<Wide>(static_cast<unsigned __int128>(high) << 64 | low);
}

void store(std::span<std::int64_t> state, std::int64_t arrival) { state[0] = arrival; }

void store(std::span<std::int64_t> state, Wide arrival) {
  const auto bits = static_cast<unsigned __int128>(arrival);
  state[0] = static_cast<std::int64_t>(static_cast<std::uint64_t>(bits));
  state[1] = static_cast<std::int64_t>(static_cast<std::uint64_t>(bits >> 64));
}

// debt * to / from, rounded up; the factors are periods, below 2^55. Split so that no product needs more than 128
// bits: a debt is at most kMaxUnits plus what a clock step refills, below 2^56 units.
Wide rescale(Wide debt, std::int64_t from, std::int64_t to) {
  const Wide units = debt / from;
  const Wide rest = debt % from;
  return units * to + (rest * to + from - 1) / from;
}

bool in(std::int64_t value, std::int64_t low, std::int64_t high) { return low <= value && value <= high; }

}  // namespace

Result<TokenBucket> TokenBucket::create(const Numbers& numbers) {
  const auto [count, period, capacity, second] = numbers;
  if (!in(second, 1, kMaxTicksPerSecond)) return invalid("a second must have 1 to 10^9 ticks");
  if (!in(count, 1, kMaxUnits)) return invalid("a rate must allow 1 to 10^12 units");
  if (!in(capacity, 0, kMaxUnits)) return invalid("a burst must be 0 to 10^12 units");
  if (period < 1 || static_cast<Wide>(period) * 1000 < second || period > kMaxPeriod * second) {
    return invalid("the period of a rate must be 1 ms to 400 days");
  }
  if (static_cast<Wide>(capacity) * period > static_cast<Wide>(count) * kMaxRefill * second) {
    return invalid("refilling the whole burst must take at most 10 years");
  }
  const std::int64_t common = std::gcd(count, period);
  return TokenBucket({count / common, period / common, capacity, second});
}

void TokenBucket::step_wide(std::span<std::int64_t> state, Ticks now, Cost cost, Outcome& outcome) const {
  auto arrival = load(state);
  gcra::step(scaled<Wide>(), arrival, now, cost, outcome);
  store(state, arrival);
}

void TokenBucket::give_back(std::span<std::int64_t> state, Ticks now, Cost cost) const {
  if (state_words() == 1) return gcra::give_back(scaled<std::int64_t>(), state[0], now, cost);
  auto arrival = load(state);
  gcra::give_back(scaled<Wide>(), arrival, now, cost);
  store(state, arrival);
}

bool TokenBucket::is_initial(std::span<const std::int64_t> state, Ticks now) const {
  if (state_words() == 1) return state[0] <= now * numbers_.count;
  return load(state) <= static_cast<Wide>(now) * numbers_.count;
}

void TokenBucket::carry(const TokenBucket& from, std::span<const std::int64_t> old_state,
                        std::span<std::int64_t> state, Ticks now) const {
  if (*this == from) {
    std::ranges::copy(old_state.first(static_cast<std::size_t>(state_words())), state.begin());
    return;
  }
  const Wide arrival = from.state_words() == 1 ? Wide{old_state[0]} : load(old_state);
  const Wide owed = gcra::debt(from.scaled<Wide>(), arrival, static_cast<Wide>(now) * from.numbers_.count);
  const Wide carried = std::min(rescale(owed, from.numbers_.period, numbers_.period), full_);
  const Wide start = static_cast<Wide>(now) * numbers_.count;
  const Wide fresh = carried > 0 ? start + carried : Wide{0};
  if (state_words() == 1) return store(state, static_cast<std::int64_t>(fresh));
  store(state, fresh);
}

}  // namespace weir::limit
