// SPDX-License-Identifier: Apache-2.0
#include "weir/partners/rate_rules.h"

#include <fmt/format.h>

#include "weir/config/language/limit_types.h"
#include "weir/config/rate.h"
#include "weir/config/scalars.h"
#include "weir/partners/words.h"

namespace weir::partners {
namespace {

using config::Algorithm;

RateFault at_rate(std::string message) { return {"rate", std::move(message)}; }
RateFault at_burst(std::string message) { return {"burst", std::move(message)}; }

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

const char* const kBlocked = "admits nothing; who must not come in is disabled (`enabled: false`)";

RateFault read_places(const std::string& text, Allowance& allowance) {
  const auto number = config::parse_number(text, 0, static_cast<std::uint64_t>(config::kMostPlaces));
  if (!number) return at_rate(number.error().message);
  if (*number == 0) return at_rate(fmt::format("a count of 0 {}", kBlocked));
  allowance.places = static_cast<std::int64_t>(*number);
  return {};
}

RateFault concurrency_fault(const LimitRow& row, const Allowance& allowance) {
  if (allowance.rate) {
    return at_rate(
        fmt::format("'{}' is a rate, but algorithm concurrency takes a number of requests such as 50", row.rate));
  }
  if (row.burst) return at_burst("has no meaning with algorithm concurrency: the count is what it admits at once");
  return {};
}

bool takes_burst(Algorithm algorithm, std::int64_t queue) {
  return algorithm == Algorithm::kTokenBucket || (algorithm == Algorithm::kLeakyBucket && queue == 0);
}

RateFault period_fault(const config::Rate& rate, Algorithm algorithm) {
  const bool calendar = algorithm == Algorithm::kCalendar;
  if (calendar && rate.civil == config::CivilUnit::kNone) {
    return at_rate("algorithm calendar takes a rate per day, week, month or year, such as 1000/month");
  }
  if (!calendar && rate.period == nanoseconds(0)) {
    return at_rate("a rate per month or year needs algorithm calendar, because months and years differ in length");
  }
  if (algorithm == Algorithm::kSlidingLog && rate.count > config::kMostLogged) {
    return at_rate(fmt::format("sliding_log remembers every request, so its count is at most {}, not {}",
                               config::kMostLogged, rate.count));
  }
  return {};
}

RateFault refill_fault(const LimitRow& row, const config::Rate& rate, Algorithm algorithm, std::int64_t queue) {
  if (takes_burst(algorithm, queue)) {
    const auto fault = config::bucket_fault(rate, row.burst.value_or(rate.count));
    return fault ? RateFault{row.burst ? "burst" : "rate", *fault} : RateFault{};
  }
  if (algorithm == Algorithm::kLeakyBucket && !config::refills_in_time(rate, queue + 1)) {
    return at_rate(fmt::format("a queue of {} requests would take more than 10 years at this rate", queue));
  }
  return {};
}

}  // namespace

RateFault read_allowance(const std::string& text, Allowance& allowance) {
  allowance.unlimited = text == "unlimited";
  if (allowance.unlimited) return {};
  if (is_number(text)) return read_places(text, allowance);
  const auto rate = config::parse_rate(text);
  if (!rate) {
    const std::string& hint = rate.error().suggestion;
    return at_rate(rate.error().message + (hint.empty() ? "" : "; " + hint));
  }
  if (rate->count == 0) return at_rate(fmt::format("a rate of 0 {}", kBlocked));
  allowance.rate = *rate;
  return {};
}

RateFault rate_fault(const LimitRow& row, const Allowance& allowance, Algorithm algorithm, std::int64_t queue) {
  if (algorithm == Algorithm::kConcurrency) return concurrency_fault(row, allowance);
  if (allowance.unlimited) return {};
  if (!allowance.rate) {
    return at_rate(
        fmt::format("'{}' is not a rate such as 20/s, which algorithm {} takes", row.rate, word(algorithm)));
  }
  if (row.burst && !takes_burst(algorithm, queue)) {
    return at_burst(fmt::format("has no meaning with algorithm {}{}: the count of the rate is what it admits at once",
                                word(algorithm), queue > 0 ? " and a queue" : ""));
  }
  RateFault fault = period_fault(*allowance.rate, algorithm);
  return fault.field.empty() ? refill_fault(row, *allowance.rate, algorithm, queue) : fault;
}

std::int64_t capacity_of(const LimitRow& row, const Allowance& allowance) {
  if (!allowance.rate) return allowance.places;
  return row.burst.value_or(allowance.rate->count);
}

}  // namespace weir::partners
