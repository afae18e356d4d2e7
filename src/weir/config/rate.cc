// SPDX-License-Identifier: Apache-2.0
#include "weir/config/rate.h"

#include "weir/config/scalars.h"

namespace weir::config {
namespace {

// `text`: the whole rate, for messages.
Parsed<nanoseconds> parse_period(std::string_view text, std::string_view period) {
  if (period == "week") return std::chrono::weeks(1);
  if (period == "month" || period == "year") return kCalendarPeriod;
  if (const auto unit = unit_length(period)) return *unit;
  if (const auto length = parse_duration(period)) {
    if (*length >= kShortestPeriod && *length <= kLongestPeriod) return *length;
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
  return then(parse_period(text, text.substr(slash + 1)),
              [&](nanoseconds period) { return Rate{static_cast<std::int64_t>(*count), period}; });
}

Type<std::optional<Rate>> rate() {
  const auto parse = [](std::string_view text) -> Parsed<std::optional<Rate>> {
    if (text == "unlimited") return std::nullopt;
    if (text == "policies") return not_available("rate 'policies'", "only callers with a row in the policies");
    return then(parse_rate(text), [](const Rate& rate) { return std::optional(rate); });
  };
  Json schema{{"type", "string"}, {"pattern", "^(unlimited|[0-9]+/([0-9]*(ms|s|min|h|day)|week))$"}};
  return scalar<std::optional<Rate>>("a rate such as 20/s", std::move(schema), parse);
}

std::optional<std::string> bucket_fault(const Rate& rate, std::int64_t burst) {
  if (rate.period == kCalendarPeriod) {
    return "a rate per month or year needs the calendar algorithm, which is not available in this version of weir; "
           "the token bucket takes periods up to " +
           duration_text(kLongestPeriod);
  }
  if (rate.count == 0) {
    if (burst == 0) return std::nullopt;
    return "a rate of 0 admits nothing, so a burst has no meaning";
  }
  using Wide = __int128;
  if (Wide{burst} * rate.period.count() <= Wide{kLongestRefill.count()} * rate.count) return std::nullopt;
  return "an empty bucket of this size would take more than 10 years to refill";
}

}  // namespace weir::config
