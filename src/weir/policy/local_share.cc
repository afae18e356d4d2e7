// SPDX-License-Identifier: Apache-2.0
#include "weir/policy/local_share.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "weir/limit/ranges.h"

namespace weir::policy {
namespace {

using limit::Cost;
using limit::Limit;
using limit::Ticks;
using limit::TokenBucket;

constexpr Ticks kDay = Ticks{86'400} * 1'000'000'000;

Cost part_of(Cost capacity, std::uint32_t gateways) {
  return capacity == 0 ? 0 : std::max<Cost>(1, capacity / gateways);
}

// `count` per `period` for all gateways together. A period that grows too long for a limit means fewer units of the
// longest one instead, rounded down.
TokenBucket::Numbers rate_of(Cost count, Ticks period, Cost capacity, std::uint32_t gateways) {
  TokenBucket::Numbers numbers{
      .count = std::max<Cost>(count, 1), .period = period * gateways, .capacity = part_of(capacity, gateways)};
  if (constexpr Ticks kLongest = 400 * kDay; numbers.period > kLongest) {
    numbers.count =
        std::max<Cost>(1, static_cast<Cost>(static_cast<__int128>(numbers.count) * kLongest / numbers.period));
    numbers.period = kLongest;
  }
  return limit::widened(numbers);
}

Ticks length_of(limit::CivilCalendar::Unit unit) {
  switch (unit) {
    case limit::CivilCalendar::Unit::kDay:
      return kDay;
    case limit::CivilCalendar::Unit::kWeek:
      return 7 * kDay;
    case limit::CivilCalendar::Unit::kMonth:
      return 31 * kDay;
    case limit::CivilCalendar::Unit::kYear:
      break;
  }
  return 366 * kDay;
}

}  // namespace

Limit share_of(const Limit& limit, std::uint32_t gateways) {
  const auto divide = [&]<class A>(const A& algorithm) -> Limit {
    const auto& numbers = algorithm.numbers();
    const auto as_bucket = [&](Cost count, Ticks period, Cost capacity) -> Limit {
      auto bucket = TokenBucket::create(rate_of(count, period, capacity, gateways));
      return bucket ? Limit(*bucket) : limit;
    };
    if constexpr (std::is_same_v<A, limit::Concurrency>) {
      auto part = numbers;
      part.capacity = part_of(numbers.capacity, gateways);
      auto made = limit::Concurrency::create(part);
      return made ? Limit(*made) : limit;
    } else if constexpr (std::is_same_v<A, TokenBucket>) {
      return as_bucket(numbers.count, numbers.period, numbers.capacity);
    } else if constexpr (std::is_same_v<A, limit::LeakyBucket>) {
      return as_bucket(numbers.count, numbers.period, numbers.queue + 1);
    } else if constexpr (std::is_same_v<A, limit::SlidingLog>) {
      return as_bucket(numbers.capacity, numbers.window, numbers.capacity);
    } else if constexpr (std::is_same_v<A, limit::CalendarQuota>) {
      return as_bucket(numbers.capacity, length_of(algorithm.calendar().rules().unit), numbers.capacity);
    } else {
      return as_bucket(numbers.capacity, numbers.alignment.window, numbers.capacity);
    }
  };
  return std::visit(divide, limit.algorithm());
}

store::Layout share_of(store::Layout layout, std::uint32_t gateways) {
  layout.kind += " local";
  for (store::Slot& slot : layout.slots) {
    for (Limit& variant : slot.variants) variant = share_of(variant, gateways);
  }
  return layout;
}

}  // namespace weir::policy
