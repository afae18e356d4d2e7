// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>

#include "weir/config/language/algorithms.h"
#include "weir/config/language/limit_checks.h"
#include "weir/config/rate.h"

namespace weir::config {
namespace {

using enum Algorithm;

constexpr std::uint8_t bit(Algorithm algorithm) { return std::uint8_t(1U << static_cast<unsigned>(algorithm)); }

template <class... Algorithms>
constexpr std::uint8_t only(Algorithms... algorithms) {
  return std::uint8_t((bit(algorithms) | ...));
}

constexpr std::uint8_t kAllAlgorithms =
    only(kTokenBucket, kFixedWindow, kSlidingWindow, kSlidingLog, kLeakyBucket, kConcurrency, kCalendar);

template <class... Algorithms>
constexpr std::uint8_t all_but(Algorithms... algorithms) {
  return kAllAlgorithms & std::uint8_t(~only(algorithms...));
}

// A key that has no meaning with some algorithms.
struct Misfit {
  std::string_view key;
  std::uint8_t algorithms;
  std::string_view why;
};

constexpr std::array kMisfits{
    Misfit{"rate", only(kConcurrency), "it limits how many requests run at the same time, with `max`"},
    Misfit{"burst", only(kFixedWindow, kSlidingWindow, kSlidingLog, kCalendar),
           "the count of the rate is what it admits at once"},
    Misfit{"burst", only(kConcurrency), "`max` is what it admits at once"},
    Misfit{"jitter", all_but(kFixedWindow, kSlidingWindow),
           "only fixed_window and sliding_window have windows that can start at different times"},
    Misfit{"calendar", all_but(kCalendar), "only calendar counts the days, weeks, months and years of a calendar"},
    Misfit{"queue", all_but(kLeakyBucket), "only with leaky_bucket can requests wait in line"},
    Misfit{"undelayed", all_but(kLeakyBucket), "only with leaky_bucket can requests wait in line"},
    Misfit{"max", all_but(kConcurrency), "only concurrency limits how many requests run at the same time"},
    Misfit{"lease", all_but(kConcurrency), "only with concurrency does a request hold a place that has to come back"},
    Misfit{"count", only(kConcurrency), "a request holds its place while it runs, whatever the answer will be"},
    Misfit{"refund", only(kConcurrency), "a request holds its place while it runs, whatever the answer will be"}};

// What makes no sense where requests wait in line.
struct QueueMisfit {
  std::string_view key;
  std::string_view why;
};

constexpr std::array kQueueMisfits{QueueMisfit{"burst", "requests that come too early wait in line, up to `queue`"},
                                   QueueMisfit{"cost", "every request takes one place"},
                                   QueueMisfit{"count", "a request has taken its place before there is an answer"},
                                   QueueMisfit{"refund", "a request has taken its place before there is an answer"}};

// The places of a key in the limit itself and, of a burst, in its alternatives.
std::vector<Place> places(const Fields& fields, std::string_view key) {
  std::vector<Place> found;
  if (fields.has(key)) found.push_back(fields.place(key));
  if (key != "burst" || !fields.readable("by")) return found;
  for (const auto& [attribute, values] : fields.find("by")->entries) {
    for (const auto& [value, node] : values->entries) {
      const Fields inner(*node);
      if (inner.has(key)) found.push_back(inner.place(key));
    }
  }
  return found;
}

// Where the key belongs to one algorithm and none was written, that one was probably meant.
std::string missing_algorithm(const Fields& fields, const Misfit& misfit) {
  const auto right = static_cast<std::uint8_t>(kAllAlgorithms & ~misfit.algorithms);
  if (fields.has("algorithm") || !std::has_single_bit(right)) return {};
  return fmt::format("add `algorithm: {}`", algorithm_word(static_cast<Algorithm>(std::countr_zero(right))));
}

void check_misfits(Reader& reader, const Fields& fields, const Limit& limit) {
  const std::string_view by_default = fields.has("algorithm") ? "" : ", the default";
  for (const Misfit& misfit : kMisfits) {
    if ((misfit.algorithms & bit(limit.algorithm)) == 0) continue;
    if (limit.from_policies && misfit.key == "rate") continue;  // it is where the numbers come from
    for (const Place& place : places(fields, misfit.key)) {
      reader.report.error(place,
                          fmt::format("'{}' has no meaning with algorithm {}{}: {}", misfit.key,
                                      algorithm_word(limit.algorithm), by_default, misfit.why),
                          missing_algorithm(fields, misfit));
    }
  }
}

void check_queue_misfits(Reader& reader, const Fields& fields) {
  for (const QueueMisfit& misfit : kQueueMisfits) {
    for (const Place& place : places(fields, misfit.key)) {
      reader.report.error(place, fmt::format("'{}' has no meaning with a queue: {}", misfit.key, misfit.why));
    }
  }
}

void check_queue(Reader& reader, const Fields& fields, const Limit& limit) {
  if (!fields.good("queue")) return;
  if (has_queue(limit)) check_queue_misfits(reader, fields);
  if (!fields.readable("undelayed")) return;
  if (!has_queue(limit)) {
    reader.report.error(fields.place("undelayed"), "'undelayed' has no meaning without a queue",
                        "say how many requests may wait in line with `queue`");
  } else if (limit.undelayed > limit.queue) {
    reader.report.error(
        fields.place("undelayed"),
        fmt::format("undelayed {} is more than the queue {} that it is a part of", limit.undelayed, limit.queue));
  }
}

void check_required(Reader& reader, const Fields& fields, const Limit& limit) {
  const std::string_view key = limit.algorithm == kConcurrency && !limit.from_policies ? "max" : "rate";
  if (fields.has(key)) return;
  reader.report.error(fields.map().place, fmt::format("key '{}' is required in a limit{}", key,
                                                      key == "max" ? " with algorithm concurrency" : ""));
}

void check_count_or_refund(Reader& reader, const Fields& fields) {
  if (!fields.has("count") || !fields.has("refund")) return;
  std::string_view first = "count", second = "refund";
  if (fields.place(second) < fields.place(first)) std::swap(first, second);
  reader.report.error(fields.place(second), fmt::format("'{}' contradicts '{}' in line {}; a limit takes one of them",
                                                        second, first, fields.place(first).line));
}

}  // namespace

void check_algorithm(Reader& reader, const Fields& fields, const Limit& limit) {
  if (!fields.good("algorithm")) return;
  check_required(reader, fields, limit);
  check_misfits(reader, fields, limit);
  if (limit.algorithm == kLeakyBucket) check_queue(reader, fields, limit);
}

void check_from_policies(Reader& reader, const Fields& fields, Limit& limit) {
  for (const std::string_view key : {"burst", "max", "by"}) {
    if (!fields.has(key)) continue;
    reader.report.error(fields.place(key),
                        fmt::format("'{}' has no meaning with rate 'policies': each row has its numbers", key));
  }
  if (!reader.scope.policies) {
    reader.report.error(fields.place("rate"), "rate 'policies' needs a database with rows",
                        "add `policies: {sql: {url: \"sqlite:policies.db\"}}`");
  }
  if (constexpr std::size_t kMost = 255; fields.readable("match") && limit.match.size() > kMost) {
    reader.report.error(fields.place("match"),
                        fmt::format("{} patterns; with rate 'policies' {} are possible", limit.match.size(), kMost));
  }
  const PerAttribute partner{PerAttribute::Source::kAttribute, "partner"};
  if (fields.readable("per") && std::ranges::find(limit.per, partner) == limit.per.end()) {
    reader.report.error(fields.place("per"), "rows of the policies belong to partners, so `per` must name 'partner'");
  }
  if (auto* header = std::get_if<HeaderCost>(&limit.cost); header != nullptr && header->max == 0) {
    header->max = kMostUnits;
  }
  if (auto* response = std::get_if<ResponseCost>(&limit.cost); response != nullptr && response->max == 0) {
    response->max = kMostUnits;
  }
}

void check_calendar(Reader& reader, const Fields& fields, const Limit& limit) {
  const bool known = limit.algorithm == kCalendar && fields.readable("calendar") && fields.readable("rate");
  if (!known) return;
  const auto is_counted = [&](CivilUnit unit) {
    const auto is_unit = [&](const std::optional<Rate>& rate) { return rate && rate->civil == unit; };
    return is_unit(limit.rate) || std::ranges::any_of(limit.by, is_unit, &ByRate::rate);
  };
  const Fields calendar(*fields.find("calendar"));
  const CivilCalendar usual;  // may be written anywhere: it says what is so anyway
  if (limit.calendar.anchor_day != usual.anchor_day && !is_counted(CivilUnit::kMonth)) {
    reader.report.error(calendar.place("anchor_day"),
                        "no rate of this limit is per month, so anchor_day could never act");
  }
  if (limit.calendar.week_starts != usual.week_starts && !is_counted(CivilUnit::kWeek)) {
    reader.report.error(calendar.place("week_starts"),
                        "no rate of this limit is per week, so week_starts could never act");
  }
}

void check_answers(Reader& reader, const Fields& fields, const Limit& limit) {
  check_count_or_refund(reader, fields);
  if (!fields.readable("cost") || !std::holds_alternative<ResponseCost>(limit.cost)) return;
  const Place cost = fields.place("cost");
  if (limit.algorithm == kConcurrency && fields.good("algorithm")) {
    return reader.report.error(cost,
                               "a cost from the answer has no meaning with algorithm concurrency: a request "
                               "holds its places only until then");
  }
  for (const std::string_view key : {"count", "refund"}) {
    if (!fields.has(key)) continue;
    reader.report.error(fields.place(key),
                        fmt::format("'{}' contradicts the response_header of `cost` in line {}: the answer says "
                                    "itself what it costs",
                                    key, cost.line));
  }
}

}  // namespace weir::config
