// SPDX-License-Identifier: Apache-2.0
#include "weir/config/language/limit_checks.h"

#include <algorithm>

#include "weir/config/http_types.h"
#include "weir/config/rate.h"

namespace weir::config {
namespace {

bool readable(const Fields& fields, std::string_view key) { return fields.has(key) && fields.good(key); }

std::string attribute_suggestion(Reader& reader, const std::string& name) {
  const std::set<std::string>& attributes = reader.scope.attributes;
  std::vector<std::string> known(attributes.begin(), attributes.end());
  known.insert(known.end(), {"address", "service", "endpoint", "method"});
  if (std::string near = reader.suggest(name, known); !near.empty()) return near;
  if (name == "partner" || name == "plan" || name == "key")
    return "add an api_key caller, or a header caller with this attribute";
  return fmt::format("add a header caller with `attribute: {}`", name);
}

void report_absent(Reader& reader, const Place& place, const std::string& name) {
  reader.report.error(place, fmt::format("no caller yields the attribute '{}', so this limit could never act", name),
                      attribute_suggestion(reader, name));
}

// Looks at the items that can be read, even if another one cannot.
void check_per(Reader& reader, const Fields& fields) {
  for (const auto& item : fields.find("per")->items) {
    const auto per = parse_per(item->text);
    if (!per || per->source != PerAttribute::Source::kAttribute || reader.scope.has_attribute(per->name)) continue;
    report_absent(reader, item->place, per->name);
  }
}

bool counts_by(const Limit& limit, const std::string& name) {
  return limit.missing == Missing::kSkip &&
         std::ranges::find(limit.per, PerAttribute{PerAttribute::Source::kAttribute, name}) != limit.per.end();
}

// The usual names may be there for callers to come; others are slips.
void report_always_missing(Reader& reader, const Place& place, const std::string& name) {
  const std::string message = fmt::format("no caller yields the attribute '{}', so it is always missing", name);
  const bool usual = name == "partner" || name == "user" || name == "plan" || name == "key";
  if (usual) {
    reader.report.warning(place, message);
  } else {
    reader.report.error(place, message, attribute_suggestion(reader, name));
  }
}

// Attributes that never come make the condition idle, not wrong; those that always come make it false for ever.
void check_only_if(Reader& reader, const Fields& fields, const Limit& limit) {
  const Node& list = *Fields(*fields.find("only_if")).find("missing");
  for (std::size_t i = 0; i < limit.only_if_missing.size(); ++i) {
    const std::string& name = limit.only_if_missing[i];
    const Place place = list.items[i]->place;
    if (Scope::is_always_present(name)) {
      reader.report.error(place,
                          fmt::format("every request has the attribute '{}', so this limit could never act", name));
    } else if (counts_by(limit, name)) {
      reader.report.error(place,
                          fmt::format("'{}' is counted by and must be missing, so this limit could never act", name));
    } else if (!reader.scope.has_attribute(name)) {
      report_always_missing(reader, place, name);
    }
  }
}

// Where all plans come from keys, one that no key has is probably a slip.
void check_plans(Reader& reader, const Node& plans) {
  const Scope& scope = reader.scope;
  if (!scope.plans_complete || !scope.attributes_complete || scope.plans.empty()) return;
  const std::vector<std::string> known(scope.plans.begin(), scope.plans.end());
  for (const auto& [plan, rate] : plans.entries) {
    if (scope.plans.contains(plan->text)) continue;
    reader.report.warning(plan->place, fmt::format("no key has the plan '{}'", plan->text),
                          reader.suggest(plan->text, known));
  }
}

void check_services(Reader& reader, const Node& services) {
  const std::vector<std::string>& known = reader.scope.services.all();
  for (const auto& [service, rate] : services.entries) {
    if (known.empty() || reader.scope.services.find(service->text)) continue;
    reader.report.error(service->place, fmt::format("there is no service '{}'", service->text),
                        reader.suggest(service->text, known));
  }
}

void check_by(Reader& reader, const Fields& fields, const Limit& limit) {
  constexpr std::size_t kMostAlternatives = Limit::kMostRates - 1;
  for (const auto& [attribute, values] : fields.find("by")->entries) {
    if (!reader.scope.has_attribute(attribute->text)) {
      reader.report.error(
          attribute->place,
          fmt::format("no caller yields the attribute '{}', so these rates could never act", attribute->text),
          attribute_suggestion(reader, attribute->text));
    }
    if (attribute->text == "service") check_services(reader, *values);
    if (attribute->text == "plan") check_plans(reader, *values);
  }
  if (limit.by.size() > kMostAlternatives) {
    reader.report.error(fields.place("by"),
                        fmt::format("{} rates; {} are possible", limit.by.size(), kMostAlternatives));
  }
}

// One bucket of a limit: its own, or an alternative of `by`.
struct Bucket {
  const std::optional<Rate>& rate;
  std::int64_t burst;
  Place rate_place;
  Place burst_place;
};

std::vector<Bucket> buckets(const Fields& fields, const Limit& limit) {
  const Place own = fields.place("rate");
  std::vector<Bucket> all{{limit.rate, limit.burst, own, fields.has("burst") ? fields.place("burst") : own}};
  const Node* by = fields.find("by");
  if (by == nullptr) return all;
  std::size_t next = 0;
  for (const auto& [attribute, values] : by->entries) {
    for (const auto& [value, node] : values->entries) {
      const ByRate& alternative = limit.by[next++];
      const Fields inner(*node);
      all.push_back({alternative.rate, alternative.burst, inner.place("rate"),
                     inner.has("burst") ? inner.place("burst") : inner.place("rate")});
    }
  }
  return all;
}

struct CostRange {
  std::int64_t usual;  // of a request that says nothing
  std::int64_t most;
  bool fixed;
};

CostRange cost_range(const Cost& cost) {
  if (const auto* fixed = std::get_if<std::int64_t>(&cost)) return {*fixed, *fixed, true};
  const auto& header = std::get<HeaderCost>(cost);
  return {header.fallback, header.max, false};
}

void check_bucket(Reader& reader, const Bucket& bucket, const CostRange& cost, const Place& cost_place) {
  if (!bucket.rate) return;
  if (const auto fault = bucket_fault(*bucket.rate, bucket.burst)) {
    reader.report.error(bucket.rate_place, *fault);
  } else if (bucket.rate->count == 0) {
    return;  // nothing passes, and that is what was asked for
  } else if (bucket.burst < cost.usual) {
    reader.report.error(bucket.burst_place,
                        fmt::format("the burst {} is below the cost {} of one request, so {} could ever pass",
                                    bucket.burst, cost.usual, cost.fixed ? "none" : "hardly any"));
  } else if (bucket.burst < cost.most) {
    reader.report.warning(cost_place,
                          fmt::format("a request that costs more than the burst {} can never pass, but max is {}",
                                      bucket.burst, cost.most));
  }
}

void fill_largest_cost(Limit& limit, const std::vector<Bucket>& all) {
  auto* header = std::get_if<HeaderCost>(&limit.cost);
  if (header == nullptr || header->max != 0) return;
  header->max = kMostUnits;
  for (const Bucket& bucket : all) {
    if (bucket.rate && bucket.rate->count > 0) header->max = std::clamp<std::int64_t>(bucket.burst, 1, header->max);
  }
}

void check_header_cost(Reader& reader, const Fields& fields, const Limit& limit) {
  const auto* header = std::get_if<HeaderCost>(&limit.cost);
  if (header == nullptr || header->fallback <= header->max || !Fields(*fields.find("cost")).has("max")) return;
  reader.report.error(fields.place("cost"),
                      fmt::format("the default {} is more than max {}", header->fallback, header->max));
}

}  // namespace

void check_name(Reader& reader, const Fields& fields, const Limit& limit) {
  if (!readable(fields, "name")) return;
  const Place place = fields.place("name");
  const auto first = reader.scope.limits.seen(limit.name, place);
  if (first) reader.report.error(place, fmt::format("the limit '{}' is in line {} already", limit.name, *first));
}

void check_match(Reader& reader, const Fields& fields, const Limit& limit) {
  if (!readable(fields, "match") || !fields.good("services")) return;
  const Node& list = *fields.find("match");
  for (std::size_t i = 0; i < limit.match.size(); ++i) {
    const std::string& path = limit.match[i].path;
    if (reader.scope.paths.can_match(path, limit.services)) continue;
    reader.report.warning(
        list.items[i]->place,
        fmt::format("no service of this limit has the path '{}', so this pattern could never match", path),
        reader.suggest(path, reader.scope.paths.all()));
  }
}

void check_attributes(Reader& reader, const Fields& fields, const Limit& limit) {
  if (fields.has("per")) check_per(reader, fields);
  if (readable(fields, "only_if")) check_only_if(reader, fields, limit);
  if (readable(fields, "by")) check_by(reader, fields, limit);
}

void check_numbers(Reader& reader, const Fields& fields, Limit& limit) {
  const bool known = readable(fields, "rate") && fields.good("burst") && fields.good("algorithm") &&
                     fields.good("by") && fields.good("cost");
  if (!known) return;
  const auto all = buckets(fields, limit);
  if (std::ranges::none_of(all, [](const Bucket& bucket) { return bucket.rate.has_value(); })) {
    reader.report.error(fields.place("rate"), "every rate is unlimited, so this limit could never act");
  }
  if (!limit.rate && fields.has("burst")) {
    reader.report.error(fields.place("burst"), "a burst has no meaning with an unlimited rate");
  }
  fill_largest_cost(limit, all);
  check_header_cost(reader, fields, limit);
  const CostRange cost = cost_range(limit.cost);
  for (const Bucket& bucket : all) check_bucket(reader, bucket, cost, fields.place("cost"));
}

}  // namespace weir::config
