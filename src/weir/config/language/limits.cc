// SPDX-License-Identifier: Apache-2.0
#include "weir/config/http_types.h"
#include "weir/config/language.h"
#include "weir/config/language/algorithms.h"
#include "weir/config/language/alternatives.h"
#include "weir/config/language/limit_checks.h"
#include "weir/config/language/limit_types.h"
#include "weir/config/rate.h"
#include "weir/config/scalars.h"

namespace weir::config {
namespace {

// `rate` of a limit: a rate, or where it comes from.
Type<Limit> limit_rate() {
  const auto plain = rate();
  Type<Limit> type;
  type.schema = any_of({{"const", "policies"}}, plain.schema);
  type.read = [read = plain.read](Reader& reader, const Node& node, Limit& limit) {
    limit.from_policies = node.kind == Node::Kind::kText && node.text == "policies";
    return limit.from_policies || read(reader, node, limit.rate);
  };
  return type;
}

void finish(Reader& reader, const Fields& fields, const Alternatives& by, Limit& limit) {
  const bool by_is_known = by.read(reader, fields, limit);
  check_name(reader, fields, limit);
  check_match(reader, fields, limit);
  check_attributes(reader, fields, limit);
  check_algorithm(reader, fields, limit);
  check_answers(reader, fields, limit);
  if (limit.from_policies) return check_from_policies(reader, fields, limit);
  fill_capacities(fields, limit);
  if (!by_is_known) return;
  check_calendar(reader, fields, limit);
  check_numbers(reader, fields, limit);
}

// An editor can tell that one of them is needed, but not which.
Type<Limit> with_rate_or_max(Type<Limit> limit) {
  limit.schema["oneOf"] = Json::array({{{"required", Json::array({"rate"})}}, {{"required", Json::array({"max"})}}});
  return limit;
}

}  // namespace

Type<std::vector<Limit>> limits_section() {
  const Alternatives by;
  Object<Limit> limit("a limit");
  limit.required("name", &Limit::name, name(), "Unique; appears in header fields, logs and metrics.")
      .required("per", &Limit::per, list_of(per_attribute(), 1),
                "What is counted together: attributes, or header:NAME, query:NAME, cookie:NAME, claim:NAME.")
      .key("match", &Limit::match, list_of(endpoint_pattern(), 1),
           "METHOD /path/{segment}/*; the method * is any. Default: every request.")
      .key("services", &Limit::services, list_of(reference("service", &Scope::services), 1), "Default: all.")
      .key("algorithm", &Limit::algorithm, algorithm(), "How it is counted.")
      .key("rate", limit_rate(),
           "count/(ms|s|min|h|day|week|month|year), count/duration, or unlimited; policies: only callers with a row "
           "in the policies, which has the numbers. Required, except with concurrency.")
      .key("burst", &Limit::burst, no_default(units()),
           "Of token_bucket, and of leaky_bucket without a queue: the size of the bucket. Default: the count.")
      .key("jitter", &Limit::jitter, boolean(),
           "Of fixed_window and sliding_window: the windows of different accounts start at different times.")
      .key("calendar", &Limit::calendar, civil_calendar(), "Of calendar: when its days, weeks, months, years begin.")
      .key("queue", &Limit::queue, places(), "Of leaky_bucket: the most requests that wait in line.")
      .key("undelayed", &Limit::undelayed, places(), "Of a queue: how many of its requests pass without waiting.")
      .key("max", &Limit::max, no_default(places()),
           "Of concurrency, required there: the most requests that run at the same time.")
      .key("lease", &Limit::lease, duration(std::chrono::seconds(1), std::chrono::days(1)),
           "Of concurrency: a place whose holder vanished comes back after this.")
      .key("cost", &Limit::cost, cost(),
           "What one request costs: a number, or a field of the request or of the answer that tells it.")
      .key("count", &Limit::counted, answers("count", CountedAnswers::Rule::kOnly), "Only these answers count.")
      .key("refund", &Limit::counted, answers("refund", CountedAnswers::Rule::kAllBut),
           "What was taken for these answers is given back.")
      .key("by", &Limit::by, by.shape(),
           "Other rates, or with concurrency numbers of requests, for callers with certain attributes; the first "
           "match "
           "wins over `rate` and `max`.")
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
      .check([by](Reader& reader, const Fields& fields, Limit& out) { finish(reader, fields, by, out); });
  auto list = list_of<Limit>(with_rate_or_max(limit));
  list.read = [read = std::move(list.read)](Reader& reader, const Node& node, std::vector<Limit>& out) {
    if (node.items.size() <= Limit::kMost) return read(reader, node, out);
    return report_fault(reader, node.place,
                        {fmt::format("{} limits; {} are possible", node.items.size(), Limit::kMost), {}, {}});
  };
  return list;
}

}  // namespace weir::config
