// SPDX-License-Identifier: Apache-2.0
#include "weir/config/http_types.h"
#include "weir/config/language.h"
#include "weir/config/language/limit_checks.h"
#include "weir/config/rate.h"
#include "weir/config/scalars.h"

namespace weir::config {
namespace {

constexpr std::int64_t kAbsent = -1;  // a burst or a maximum that was not written

using Rates = std::optional<Rate>;

Type<std::int64_t> units() { return number<std::int64_t>(0, kMostUnits); }

// `20`, or `{header: X-Cost, default: 1, max: 100}`.
Type<Cost> cost() {
  Object<HeaderCost> object("a cost");
  object.required("header", &HeaderCost::header, header_name(), "The request field that has the cost.")
      .key("default", &HeaderCost::fallback, units(), "Without the field.")
      .key("max", &HeaderCost::max, no_default(number<std::int64_t>(1, kMostUnits)),
           "The largest cost that is believed. Default: the burst.")
      .later("response_header", "a cost that the upstream tells");
  Type<HeaderCost> header = object;
  Type<std::int64_t> fixed = number<std::int64_t>(1, kMostUnits);
  return scalar_or_map<Cost>(as<Cost>(std::move(fixed)), as<Cost>(std::move(header)));
}

// `10/min`, or `{rate: 10/min, burst: 50}`.
Type<ByRate> by_rate() {
  Object<ByRate> object("a rate of `by`");
  object.required("rate", &ByRate::rate, rate(), "As `rate` of the limit.")
      .key("burst", &ByRate::burst, no_default(units()), "Default: the count.");
  auto plain = rate();
  Type<ByRate> scalar{.read = [read = std::move(plain.read)](Reader& reader, const Node& node,
                                                             ByRate& out) { return read(reader, node, out.rate); },
                      .schema = std::move(plain.schema)};
  return scalar_or_map<ByRate>(std::move(scalar), object);
}

// Attribute to value to rate.
Type<std::vector<ByRate>> by() {
  const auto values = by_rate();
  Type<std::vector<ByRate>> type;
  type.schema = {
      {"type", "object"},
      {"minProperties", 1},
      {"additionalProperties", {{"type", "object"}, {"minProperties", 1}, {"additionalProperties", values.schema}}}};
  type.read = [read = values.read](Reader& reader, const Node& node, std::vector<ByRate>& out) {
    if (node.kind != Node::Kind::kMap) return report_mismatch(reader, node, "a map from attributes to values");
    bool good = !node.entries.empty() || report_mismatch(reader, node, "at least one attribute");
    for (const auto& [attribute, rates] : node.entries) {
      if (rates->kind != Node::Kind::kMap || rates->entries.empty()) {
        good = report_mismatch(reader, *rates, "a map from values of '" + attribute->text + "' to rates");
        continue;
      }
      for (const auto& [value, rate] : rates->entries) {
        ByRate& alternative = out.emplace_back(attribute->text, value->text, std::nullopt, kAbsent);
        good &= read(reader, *rate, alternative);
      }
    }
    return good;
  };
  return type;
}

Type<Algorithm> algorithm() {
  return choice<Algorithm>("algorithm", {{"token_bucket", Algorithm::kTokenBucket}},
                           {{"fixed_window", "a count that starts anew at fixed times"},
                            {"sliding_window", "a count weighted with that of the window before"},
                            {"sliding_log", "every request of the last window remembered"},
                            {"leaky_bucket", "a steady rate, with a queue if wanted"},
                            {"concurrency", "requests at the same time"},
                            {"calendar", "quotas of days, weeks, months"}});
}

void fill_bursts(const Fields& fields, Limit& limit) {
  if (!fields.has("burst")) limit.burst = limit.rate ? limit.rate->count : 0;
  for (ByRate& by : limit.by) {
    if (by.burst == kAbsent) by.burst = by.rate ? by.rate->count : 0;
  }
}

void finish(Reader& reader, const Fields& fields, Limit& limit) {
  check_name(reader, fields, limit);
  check_match(reader, fields, limit);
  check_attributes(reader, fields, limit);
  fill_bursts(fields, limit);
  check_numbers(reader, fields, limit);
}

}  // namespace

Type<std::vector<Limit>> limits_section() {
  Object<Limit> limit("a limit");
  limit.required("name", &Limit::name, name(), "Unique; appears in header fields, logs and metrics.")
      .required("per", &Limit::per, list_of(per_attribute(), 1),
                "What is counted together: attributes, or header:NAME, query:NAME, cookie:NAME.")
      .key("match", &Limit::match, list_of(endpoint_pattern(), 1),
           "METHOD /path/{segment}/*; the method * is any. Default: every request.")
      .key("services", &Limit::services, list_of(reference("service", &Scope::services), 1), "Default: all.")
      .key("algorithm", &Limit::algorithm, algorithm(), "How it is counted.")
      .required("rate", &Limit::rate, rate(), "count/(ms|s|min|h|day|week), count/duration, or unlimited.")
      .key("burst", &Limit::burst, no_default(units()), "The size of the bucket. Default: the count.")
      .key("cost", &Limit::cost, cost(), "What one request costs: a number, or a request field that tells it.")
      .key("by", &Limit::by, by(),
           "Other rates for callers with certain attributes; the first match wins over `rate`.")
      .group("only_if", Object<Limit>("only_if", "Acts only on some requests.")
                            .required("missing", &Limit::only_if_missing, list_of(attribute(), 1),
                                      "Acts only on requests that lack all of these attributes."))
      .key("mode", &Limit::mode, choice<Mode>("mode", {{"enforce", Mode::kEnforce}, {"shadow", Mode::kShadow}}),
           "`shadow`: counted and reported, never refuses.")
      .key("on_store_failure", &Limit::on_store_failure,
           choice<StoreFailure>(
               "on_store_failure",
               {{"open", StoreFailure::kOpen}, {"closed", StoreFailure::kClosed}, {"local", StoreFailure::kLocal}}),
           "While the store is away: admit, refuse, or count the limit's share in this process.")
      .key("missing", &Limit::missing,
           choice<Missing>("missing",
                           {{"skip", Missing::kSkip}, {"refuse", Missing::kRefuse}, {"share", Missing::kShare}}),
           "An attribute of `per` is absent: not counted, refused, or one account for all of them.")
      .key("advertise", &Limit::advertise, boolean(), "Whether header fields tell about it.")
      .later("calendar", "the time zone and the days of calendar quotas")
      .later("jitter", "windows that start at different times")
      .later("queue", "requests that wait in line")
      .later("undelayed", "requests of a queue that pass at once")
      .later("max", "the most requests at the same time")
      .later("lease", "when the slot of a vanished request comes back")
      .later("count", "counting only certain answers")
      .later("refund", "giving back after certain answers")
      .check(finish);
  auto list = list_of<Limit>(limit);
  list.read = [read = std::move(list.read)](Reader& reader, const Node& node, std::vector<Limit>& out) {
    if (node.items.size() <= Limit::kMost) return read(reader, node, out);
    return report_fault(reader, node.place,
                        {fmt::format("{} limits; {} are possible", node.items.size(), Limit::kMost), {}, {}});
  };
  return list;
}

}  // namespace weir::config
