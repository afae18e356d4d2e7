// SPDX-License-Identifier: Apache-2.0
#include "weir/config/rate.h"

#include <algorithm>
#include <array>

#include "weir/config/scalars.h"

namespace weir::config {
namespace {

struct Period {
  nanoseconds length{};
  CivilUnit civil = CivilUnit::kNone;
};

struct CivilWord {
  std::string_view word;
  Period period;
};

constexpr std::array kCivilWords{CivilWord{"day", {std::chrono::days(1), CivilUnit::kDay}},
                                 CivilWord{"week", {std::chrono::weeks(1), CivilUnit::kWeek}},
                                 CivilWord{"month", {nanoseconds(0), CivilUnit::kMonth}},
                                 CivilWord{"year", {nanoseconds(0), CivilUnit::kYear}}};

// `text`: the whole rate, for messages.
Parsed<Period> parse_period(std::string_view text, std::string_view period) {
  const auto civil = std::ranges::find(kCivilWords, period, &CivilWord::word);
  if (civil != kCivilWords.end()) return civil->period;
  if (const auto unit = unit_length(period)) return Period{*unit};
  if (const auto length = parse_duration(period)) {
    if (*length >= kShortestPeriod && *length <= kLongestPeriod) return Period{*length};
    return fault(fmt::format("the period '{}' is not from {} to {}", period, duration_text(kShortestPeriod),
                             duration_text(kLongestPeriod)));
  }
  const std::size_t slash = text.size() - period.size() - 1;
  const std::size_t word = std::min(period.find_first_not_of("0123456789"), period.size());
  return fault(fmt::format("'{}' is not a rate such as 20/s, 100/5s or unlimited", text),
               unit_suggestion(text.substr(0, slash + 1 + word), period.substr(word)));
}

}  // namespace

Parsed<Rate> parse_rate(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view digits = text.substr(0, slash);
  if (slash == text.npos || digits.empty() || digits.find_first_not_of("0123456789") != digits.npos) {
    return fault(fmt::format("'{}' is not a rate such as 20/s, 100/5s or unlimited", text));
  }
  const auto count = parse_digits(digits, kMostUnits);
  if (!count) return fault(fmt::format("the count of a rate is from 0 to {}", kMostUnits));
  return then(parse_period(text, text.substr(slash + 1)), [&](const Period& period) {
    return Rate{static_cast<std::int64_t>(*count), period.length, period.civil};
  });
}

Type<std::optional<Rate>> rate() {
  const auto parse = [](std::string_view text) -> Parsed<std::optional<Rate>> {
    if (text == "unlimited") return std::nullopt;
    if (text == "policies") return fault("rate 'policies' can only be that of the whole limit");
    return then(parse_rate(text), [](const Rate& rate) { return std::optional(rate); });
  };
  Json schema{{"type", "string"}, {"pattern", "^(unlimited|[0-9]+/([0-9]*(ms|s|min|h|day)|week|month|year))$"}};
  return scalar<std::optional<Rate>>("a rate such as 20/s", std::move(schema), parse);
}

bool refills_in_time(const Rate& rate, std::int64_t units) {
  using Wide = __int128;
  return Wide{units} * rate.period.count() <= Wide{kLongestRefill.count()} * rate.count;
}

std::optional<std::string> bucket_fault(const Rate& rate, std::int64_t burst) {
  if (rate.count == 0) {
    if (burst == 0) return std::nullopt;
    return "a rate of 0 admits nothing, so a burst has no meaning";
  }
  if (refills_in_time(rate, burst)) return std::nullopt;
  return "an empty bucket of this size would take more than 10 years to refill";
}

}  // namespace weir::config
