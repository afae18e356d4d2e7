// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "weir/config/language/algorithms.h"
#include "weir/config/language/limit_checks.h"
#include "weir/config/language/limit_types.h"
#include "weir/config/rate.h"

namespace weir::config {
namespace {

// What one account of a limit may take: the limit's own numbers, or an alternative of `by`.
struct Allowance {
  const Rate* rate;  // null where unlimited, and with concurrency
  bool unlimited;
  std::int64_t capacity;  // burst, count or max
  Place place;            // of the rate or the max
  Place capacity_place;

  // Nothing passes, and that is what was asked for.
  bool blocks() const { return !unlimited && (rate != nullptr ? rate->count : capacity) == 0; }
};

Allowance allowance(const Fields& fields, const Limit& limit, const std::optional<Rate>& rate, bool unlimited,
                    std::int64_t capacity) {
  const bool is_max = limit.algorithm == Algorithm::kConcurrency;
  const Place place = fields.place(is_max ? "max" : "rate");
  return {.rate = rate ? &*rate : nullptr,
          .unlimited = is_max ? unlimited : !rate,
          .capacity = capacity,
          .place = place,
          .capacity_place = takes_burst(limit) && fields.has("burst") ? fields.place("burst") : place};
}

std::vector<Allowance> allowances(const Fields& fields, const Limit& limit) {
  std::vector<Allowance> all{allowance(fields, limit, limit.rate, false, limit.burst)};
  const Node* by = fields.find("by");
  if (by == nullptr) return all;
  std::size_t next = 0;
  for (const auto& [attribute, values] : by->entries) {
    for (const auto& [value, node] : values->entries) {
      const ByRate& other = limit.by[next++];
      all.push_back(allowance(Fields(*node), limit, other.rate, other.unlimited, other.burst));
    }
  }
  return all;
}

Fault log_fault(const Rate& rate) {
  return {
      fmt::format("sliding_log remembers every request, so its count is at most {}, not {}", kMostLogged, rate.count),
      "`algorithm: sliding_window` takes the same memory for any count",
      {}};
}

// Whether the algorithm takes such a rate.
std::optional<Fault> rate_fault(const Limit& limit, const Rate& rate, std::int64_t capacity) {
  const bool calendar = limit.algorithm == Algorithm::kCalendar;
  if (calendar && rate.civil == CivilUnit::kNone) {
    return Fault{"algorithm calendar takes a rate per day, week, month or year, such as 1000/month",
                 "`algorithm: fixed_window` counts over periods of any fixed length",
                 {}};
  }
  if (!calendar && rate.period == nanoseconds(0)) {
    return Fault{
        "a rate per month or year needs `algorithm: calendar`, because months and years differ in length", {}, {}};
  }
  if (limit.algorithm == Algorithm::kSlidingLog && rate.count > kMostLogged) return log_fault(rate);
  if (takes_burst(limit)) {
    const auto message = bucket_fault(rate, capacity);
    return message ? std::optional(Fault{*message, {}, {}}) : std::nullopt;
  }
  if (has_queue(limit) && rate.count > 0 && !refills_in_time(rate, limit.queue + 1)) {
    return Fault{
        fmt::format("a queue of {} requests would take more than 10 years at this rate", limit.queue), {}, {}};
  }
  return std::nullopt;
}

// False after a fault was reported.
bool check_rates(Reader& reader, const Fields& fields, const Limit& limit, const std::vector<Allowance>& all) {
  if (std::ranges::all_of(all, &Allowance::unlimited)) {
    reader.report.error(fields.place("rate"), "every rate is unlimited, so this limit could never act");
  }
  if (takes_burst(limit) && !limit.rate && fields.has("burst")) {
    reader.report.error(fields.place("burst"), "a burst has no meaning with an unlimited rate");
  }
  return std::ranges::count_if(all, [&](const Allowance& one) {
           const auto fault = one.rate == nullptr ? std::nullopt : rate_fault(limit, *one.rate, one.capacity);
           return fault && !report_fault(reader, one.place, *fault);
         }) == 0;
}

// A cost above the smallest capacity could never pass, so it is not believed. One that is settled after the answer
// can be told of any account.
std::int64_t largest_cost(const Cost& cost, const std::vector<Allowance>& all) {
  const bool settled = std::holds_alternative<ResponseCost>(cost);
  std::int64_t largest = settled ? 1 : kMostUnits;
  for (const Allowance& one : all) {
    if (one.unlimited || one.blocks()) continue;
    largest = settled ? std::max(largest, one.capacity) : std::clamp<std::int64_t>(one.capacity, 1, largest);
  }
  return largest;
}

void fill_largest_cost(Cost& cost, const std::vector<Allowance>& all) {
  if (auto* header = std::get_if<HeaderCost>(&cost); header != nullptr && header->max == 0) {
    header->max = largest_cost(cost, all);
  }
  if (auto* response = std::get_if<ResponseCost>(&cost); response != nullptr && response->max == 0) {
    response->max = largest_cost(cost, all);
  }
}

struct CostRange {
  std::string_view word;  // of `usual`, for messages
  std::int64_t usual;     // of a request that says nothing
  std::int64_t most;      // that must fit
  std::int64_t max;
  std::string_view share;  // of the requests that cost `usual`
};

CostRange cost_range(const Cost& cost) {
  if (const auto* fixed = std::get_if<std::int64_t>(&cost)) return {"cost", *fixed, *fixed, *fixed, "none"};
  if (const auto* header = std::get_if<HeaderCost>(&cost)) {
    return {"cost", header->fallback, header->max, header->max, "hardly any"};
  }
  const auto& response = std::get<ResponseCost>(cost);
  return {"reserve", response.reserve, response.reserve, response.max, "none"};
}

void check_largest_cost(Reader& reader, const Fields& fields, const Limit& limit) {
  const CostRange cost = cost_range(limit.cost);
  if (cost.usual <= cost.max || !Fields(*fields.find("cost")).has("max")) return;
  const std::string_view word = std::holds_alternative<HeaderCost>(limit.cost) ? "default" : cost.word;
  reader.report.error(fields.place("cost"), fmt::format("the {} {} is more than max {}", word, cost.usual, cost.max));
}

void check_cost(Reader& reader, const Fields& fields, const Limit& limit, const Allowance& one) {
  if (one.unlimited || one.blocks()) return;
  const CostRange cost = cost_range(limit.cost);
  const std::string_view word = capacity_word(limit.algorithm);
  if (one.capacity < cost.usual) {
    reader.report.error(one.capacity_place,
                        fmt::format("the {} {} is below the {} {} of one request, so {} could ever pass", word,
                                    one.capacity, cost.word, cost.usual, cost.share));
  } else if (one.capacity < cost.most) {
    reader.report.warning(
        fields.place("cost"),
        fmt::format("a request that costs more than the {} {} can never pass, but the max of its cost is {}", word,
                    one.capacity, cost.most));
  }
}

}  // namespace

void fill_capacities(const Fields& fields, Limit& limit) {
  const bool is_max = limit.algorithm == Algorithm::kConcurrency;
  const auto count = [](const std::optional<Rate>& rate) { return rate ? rate->count : 0; };
  if (is_max || !takes_burst(limit) || !fields.has("burst")) limit.burst = is_max ? limit.max : count(limit.rate);
  for (ByRate& by : limit.by) {
    if (is_max || !takes_burst(limit) || by.burst == kAbsent) by.burst = is_max ? by.max : count(by.rate);
  }
}

void check_numbers(Reader& reader, const Fields& fields, Limit& limit) {
  const bool known = fields.readable(limit.algorithm == Algorithm::kConcurrency ? "max" : "rate") &&
                     fields.good("algorithm") && fields.good("burst") && fields.good("queue");
  if (!known) return;
  const auto all = allowances(fields, limit);
  if (!check_rates(reader, fields, limit, all) || !fields.good("cost")) return;
  fill_largest_cost(limit.cost, all);
  check_largest_cost(reader, fields, limit);
  for (const Allowance& one : all) check_cost(reader, fields, limit, one);
}

}  // namespace weir::config
