// SPDX-License-Identifier: Apache-2.0
#include "weir/config/language/limit_checks.h"

#include <algorithm>

#include "weir/config/http_types.h"

namespace weir::config {
namespace {

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

void check_claim(Reader& reader, const Place& place) {
  if (reader.scope.tokens || !reader.scope.attributes_complete) return;
  reader.report.error(place, "there is no jwt caller, so no claim is ever there and this limit could never act",
                      "add a caller such as `jwt: {issuer: \"https://id.example\", keys: jwks.json}`");
}

// Looks at the items that can be read, even if another one cannot.
void check_per(Reader& reader, const Fields& fields) {
  for (const auto& item : fields.find("per")->items) {
    const auto per = parse_per(item->text);
    if (per && per->source == PerAttribute::Source::kClaim) check_claim(reader, item->place);
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

}  // namespace

void check_name(Reader& reader, const Fields& fields, const Limit& limit) {
  if (!fields.readable("name")) return;
  const Place place = fields.place("name");
  const auto first = reader.scope.limits.seen(limit.name, place);
  if (first) reader.report.error(place, fmt::format("the limit '{}' is in line {} already", limit.name, *first));
}

void check_match(Reader& reader, const Fields& fields, const Limit& limit) {
  if (!fields.readable("match") || !fields.good("services")) return;
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
  if (fields.readable("only_if")) check_only_if(reader, fields, limit);
  if (fields.readable("by")) check_by(reader, fields, limit);
}

}  // namespace weir::config
