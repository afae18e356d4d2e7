// SPDX-License-Identifier: Apache-2.0
#include "weir/identity/attributes.h"

#include <algorithm>
#include <variant>

#include "weir/http/field.h"

namespace weir::identity {
namespace {

using config::PerAttribute;

constexpr std::string_view kStandardNames[kStandardCount] = {"partner", "user",    "plan",     "key",
                                                             "address", "service", "endpoint", "method"};

bool same(const PerAttribute& a, const PerAttribute& b) {
  if (a.source != b.source) return false;
  return a.source == PerAttribute::Source::kHeader ? http::same_name(a.name, b.name) : a.name == b.name;
}

PerAttribute named(std::string_view name) { return {PerAttribute::Source::kAttribute, std::string(name)}; }

void add(std::vector<PerAttribute>& all, const PerAttribute& attribute) {
  const auto is_same = [&](const PerAttribute& other) { return same(other, attribute); };
  if (std::ranges::none_of(all, is_same)) all.push_back(attribute);
}

// Names that a limit asks about get an id even if nobody yields them: they are absent from every request.
void add_names_of(const config::Limit& limit, std::vector<PerAttribute>& all) {
  for (const PerAttribute& attribute : limit.per) add(all, attribute);
  for (const config::ByRate& by : limit.by) add(all, named(by.attribute));
  for (const std::string& name : limit.only_if_missing) add(all, named(name));
}

}  // namespace

AttributeNames::AttributeNames(const config::Config& config) {
  for (const std::string_view name : kStandardNames) all_.push_back(named(name));
  for (const config::Caller& caller : config.callers) {
    if (const auto* header = std::get_if<config::HeaderCaller>(&caller)) add(all_, named(header->attribute));
    if (const auto* token = std::get_if<config::JwtCaller>(&caller)) {
      for (const config::ClaimAttribute& one : token->attributes) add(all_, named(one.attribute));
    }
  }
  for (const config::Limit& limit : config.limits) add_names_of(limit, all_);
}

std::optional<AttributeId> AttributeNames::find(const config::PerAttribute& attribute) const {
  const auto found = std::ranges::find_if(all_, [&](const PerAttribute& other) { return same(other, attribute); });
  if (found == all_.end()) return std::nullopt;
  return static_cast<AttributeId>(found - all_.begin());
}

std::optional<AttributeId> AttributeNames::find(std::string_view attribute_name) const {
  return find(named(attribute_name));
}

}  // namespace weir::identity
