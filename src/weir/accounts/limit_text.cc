// SPDX-License-Identifier: Apache-2.0
#include "weir/accounts/limit_text.h"

#include <fmt/format.h>

#include <array>
#include <type_traits>
#include <variant>

namespace weir::accounts {
namespace {

struct Unit {
  std::int64_t length;  // nanoseconds
  const char* name;
};
constexpr std::array<Unit, 7> kUnits{{{86'400'000'000'000, "d"},
                                      {3'600'000'000'000, "h"},
                                      {60'000'000'000, "min"},
                                      {1'000'000'000, "s"},
                                      {1'000'000, "ms"},
                                      {1'000, "us"},
                                      {1, "ns"}}};
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMilli = 1'000'000;

std::string unit_text(limit::CivilCalendar::Unit unit) {
  switch (unit) {
    case limit::CivilCalendar::Unit::kDay:
      return "day";
    case limit::CivilCalendar::Unit::kWeek:
      return "week";
    case limit::CivilCalendar::Unit::kMonth:
      return "month";
    case limit::CivilCalendar::Unit::kYear:
      break;
  }
  return "year";
}

template <class Numbers>
nanoseconds time_of(const Numbers& numbers, limit::Ticks ticks) {
  return nanoseconds(ticks * (kSecond / numbers.ticks_per_second));
}

// "20/s", "100/5s".
std::string rate_text(std::int64_t count, nanoseconds period) {
  const std::string text = exact_text(period);
  const bool is_one = text.starts_with('1') && (text.size() < 2 || text[1] > '9');
  return fmt::format("{}/{}", count, is_one ? text.substr(1) : text);
}

}  // namespace

std::string algorithm_text(config::Algorithm algorithm) {
  switch (algorithm) {
    case config::Algorithm::kTokenBucket:
      return "token_bucket";
    case config::Algorithm::kFixedWindow:
      return "fixed_window";
    case config::Algorithm::kSlidingWindow:
      return "sliding_window";
    case config::Algorithm::kSlidingLog:
      return "sliding_log";
    case config::Algorithm::kLeakyBucket:
      return "leaky_bucket";
    case config::Algorithm::kConcurrency:
      return "concurrency";
    case config::Algorithm::kCalendar:
      break;
  }
  return "calendar";
}

std::string algorithm_text(const limit::Limit& limit) {
  if (limit.holds<limit::TokenBucket>()) return algorithm_text(config::Algorithm::kTokenBucket);
  if (limit.holds<limit::FixedWindow>()) return algorithm_text(config::Algorithm::kFixedWindow);
  if (limit.holds<limit::SlidingWindow>()) return algorithm_text(config::Algorithm::kSlidingWindow);
  if (limit.holds<limit::SlidingLog>()) return algorithm_text(config::Algorithm::kSlidingLog);
  if (limit.holds<limit::LeakyBucket>()) return algorithm_text(config::Algorithm::kLeakyBucket);
  if (limit.holds<limit::Concurrency>()) return algorithm_text(config::Algorithm::kConcurrency);
  return algorithm_text(config::Algorithm::kCalendar);
}

std::string numbers_text(const limit::Limit& limit, const std::optional<config::Rate>& rate) {
  const auto write = [&]<class A>(const A& algorithm) -> std::string {
    const auto& numbers = algorithm.numbers();
    if constexpr (std::is_same_v<A, limit::TokenBucket>) {
      const std::string text =
          rate ? rate_text(rate->count, rate->period) : rate_text(numbers.count, time_of(numbers, numbers.period));
      return text + fmt::format(", burst {}", numbers.capacity);
    } else if constexpr (std::is_same_v<A, limit::LeakyBucket>) {
      const std::string text =
          rate ? rate_text(rate->count, rate->period) : rate_text(numbers.count, time_of(numbers, numbers.period));
      return text + fmt::format(", queue {}", numbers.queue) +
             (numbers.undelayed > 0 ? fmt::format(", undelayed {}", numbers.undelayed) : "");
    } else if constexpr (std::is_same_v<A, limit::SlidingLog>) {
      return rate_text(numbers.capacity, time_of(numbers, numbers.window));
    } else if constexpr (std::is_same_v<A, limit::Concurrency>) {
      return fmt::format("max {}, lease {}", numbers.capacity, exact_text(time_of(numbers, numbers.lease)));
    } else if constexpr (std::is_same_v<A, limit::CalendarQuota>) {
      if (!rate) return fmt::format("{} in a period", numbers.capacity);
      const auto& rules = algorithm.calendar().rules();
      return fmt::format("{}/{} in {}", numbers.capacity, unit_text(rules.unit), rules.zone);
    } else {
      return rate_text(numbers.capacity, time_of(numbers, numbers.alignment.window));
    }
  };
  return std::visit(write, limit.algorithm());
}

std::string exact_text(nanoseconds time) {
  for (const Unit& unit : kUnits) {
    if (time.count() % unit.length == 0 && time.count() > 0) {
      return fmt::format("{}{}", time.count() / unit.length, unit.name);
    }
  }
  return "0s";
}

std::string round_text(nanoseconds time) {
  const std::int64_t millis = (time.count() + kMilli - 1) / kMilli;
  if (millis <= 0) return "0s";
  if (millis < 1000) return fmt::format("{}ms", millis);
  if (const std::int64_t tenths = (millis + 99) / 100; tenths < 100)
    return fmt::format("{}.{}s", tenths / 10, tenths % 10);
  const std::int64_t left = (millis + 999) / 1000 * kSecond;
  std::size_t largest = 0;
  while (left < kUnits[largest].length) ++largest;
  const std::int64_t first = left / kUnits[largest].length;
  const std::int64_t second = left % kUnits[largest].length / kUnits[largest + 1].length;
  const bool has_second = second > 0 && kUnits[largest].length > kSecond;
  return fmt::format("{}{}", first, kUnits[largest].name) +
         (has_second ? fmt::format("{}{}", second, kUnits[largest + 1].name) : "");
}

}  // namespace weir::accounts
