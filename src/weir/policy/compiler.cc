// SPDX-License-Identifier: Apache-2.0
#include "weir/policy/compiler.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

#include "weir/limit/ranges.h"
#include "weir/policy/limit_builder.h"
#include "weir/policy/local_share.h"

namespace weir::policy {
namespace {

using config::PerAttribute;

constexpr std::array<std::string_view, kMethods> kMethodTexts = {"GET",     "POST",  "PUT",   "DELETE", "CONNECT",
                                                                 "OPTIONS", "TRACE", "PATCH", "other"};

bool is_named(const PerAttribute& attribute, std::string_view name) {
  return attribute.source == PerAttribute::Source::kAttribute && attribute.name == name;
}

bool names(const std::vector<PerAttribute>& per, std::string_view name) {
  return std::ranges::any_of(per, [&](const PerAttribute& attribute) { return is_named(attribute, name); });
}

// Without repetitions, and without endpoint and method unless these are values of the subject.
std::vector<PerAttribute> subject_attributes(const config::Limit& limit, bool spread) {
  std::vector<PerAttribute> kept;
  for (const PerAttribute& attribute : limit.per) {
    if (spread && (is_named(attribute, "endpoint") || is_named(attribute, "method"))) continue;
    if (std::ranges::find(kept, attribute) == kept.end()) kept.push_back(attribute);
  }
  return kept;
}

std::string_view source_prefix(PerAttribute::Source source) {
  switch (source) {
    case PerAttribute::Source::kHeader:
      return "header:";
    case PerAttribute::Source::kQuery:
      return "query:";
    case PerAttribute::Source::kCookie:
      return "cookie:";
    case PerAttribute::Source::kClaim:
      return "claim:";
    case PerAttribute::Source::kAttribute:
      break;
  }
  return "";
}

// E.g. "partner,service"; what could be read differently is escaped.
std::string kind_text(const std::vector<PerAttribute>& attributes, bool shadow) {
  std::string text = shadow ? "shadow#" : "";
  for (const PerAttribute& attribute : attributes) {
    if (&attribute != attributes.data()) text += ',';
    text += source_prefix(attribute.source);
    for (const char c : attribute.name) {
      if (c == ',' || c == '#' || c == '\\') text += '\\';
      text += c;
    }
  }
  return text;
}

// Subjects of more values are narrower; of as many, one endpoint than all, and one service than all.
std::uint16_t breadth_of(const config::Limit& limit) {
  const std::size_t values = std::min<std::size_t>(limit.per.size(), 1000);
  return static_cast<std::uint16_t>((1000 - values) * 4 + (limit.match.empty() ? 2 : 0) +
                                    (limit.services.empty() ? 1 : 0));
}

Settlement settlement_of(const config::Limit& limit) {
  Settlement settlement{.counted = limit.counted, .field = {}};
  if (const auto* response = std::get_if<config::ResponseCost>(&limit.cost)) {
    settlement.field = response->header;
    settlement.max = response->max > 0 ? std::min(response->max, limit::kMaxUnits) : limit::kMaxUnits;
  }
  return settlement;
}

limit::Cost largest_cost(const Rule& rule) {
  const auto* fixed = std::get_if<limit::Cost>(&rule.cost);
  return fixed != nullptr ? *fixed : std::get<FieldCost>(rule.cost).max;
}

store::Leasing leasing_of(const config::Config& config) {
  if (!config.redis) return {};
  return {.max = static_cast<limit::Cost>(config.redis->lease_max),
          .gateways = static_cast<limit::Cost>(config.gateways)};
}

}  // namespace

std::uint32_t method_number(std::string_view method) {
  if (method == "HEAD") return 0;
  const auto found = std::ranges::find(kMethodTexts, method);
  return std::min(static_cast<std::uint32_t>(found - kMethodTexts.begin()), kMethods - 1);
}

std::string_view method_text(std::uint32_t number) { return kMethodTexts[number]; }

std::string spread_endpoint(const Rule& rule, const route::Router& router, std::uint32_t number) {
  if (rule.spread.by_row && number < rule.patterns.size())
    number = rule.patterns[number];
  else if (rule.spread.by_row)
    return {};
  return number < router.patterns().size() ? pattern_text(router.patterns()[number]) : std::string();
}

std::string per_text(const PerAttribute& attribute) {
  return std::string(source_prefix(attribute.source)) + attribute.name;
}

std::string pattern_text(const config::EndpointPattern& pattern) { return pattern.method + ' ' + pattern.path; }

Compiler::Compiler(const config::Config& config, const route::Router& router,
                   const identity::AttributeNames& attribute_names, RowNumbersShelf& shelf)
    : leasing(leasing_of(config)),
      router_(router),
      names_(attribute_names),
      shelf_(shelf),
      gateways_(config.redis ? config.gateways : 0) {
  const std::size_t count = std::min<std::size_t>(config.limits.size(), Charges::kNone);
  for (std::size_t index = 0; index < count; ++index) add_limit(config.limits[index]);
  order_rules();
  build_indexes(config);
}

store::Layout Compiler::local_layout(std::size_t kind) const {
  store::Layout layout = share_of(layouts[kind], gateways_);
  for (const Rule& rule : rules) {
    if (rule.kind != kind || !rule.from_rows) continue;
    const store::LimitBook& shares = limits[rule.limit].rows->in_memory();
    for (std::uint32_t i = 0; i < rule.spread.size(); ++i) layout.slots[rule.spread.first + i].book = &shares;
  }
  return layout;
}

void Compiler::add_limit(const config::Limit& limit) {
  Rule rule = make_rule(limit);
  LimitInfo info = make_info(limit, rule);
  if (limit.from_policies) {
    add_row_rules(limit, rule, info);
  } else if (!info.variants.empty()) {  // else nobody is limited
    place(limit, info, rule);
    rules.push_back(std::move(rule));
  }
  limits.push_back(std::move(info));
}

// A shadow limit has only shadow rows.
void Compiler::add_row_rules(const config::Limit& limit, const Rule& rule, const LimitInfo& info) {
  for (const bool shadow : {false, true}) {
    if (rule.shadow && !shadow) continue;
    Rule& one = rules.emplace_back(rule);
    one.shadow = shadow;
    place(limit, info, one);
  }
}

Rule Compiler::make_rule(const config::Limit& limit) const {
  Rule rule;
  rule.limit = static_cast<LimitIndex>(limits.size());
  rule.missing = limit.missing;
  rule.shadow = limit.mode == config::Mode::kShadow;
  rule.breadth = breadth_of(limit);
  rule.services = limit.services;
  std::ranges::sort(rule.services);
  for (const std::string& name : limit.only_if_missing) rule.only_if_missing.push_back(id(name));
  set_cost(limit.cost, rule);
  rule.from_rows = limit.from_policies;
  rule.any_mode = rule.shadow;
  rule.by_service = names(limit.per, "service");
  rule.by_endpoint = names(limit.per, "endpoint");
  for (const config::EndpointPattern& pattern : limit.match) rule.patterns.push_back(router_.pattern_index(pattern));
  std::ranges::sort(rule.patterns);
  return rule;
}

LimitInfo Compiler::make_info(const config::Limit& limit, Rule& rule) const {
  LimitInfo info{.name = limit.name,
                 .mode = limit.mode,
                 .advertise = limit.advertise,
                 .on_store_failure = limit.on_store_failure,
                 .variants = {},
                 .variant_rates = {},
                 .settlement = settlement_of(limit),
                 .rows = limit.from_policies ? shelf_.of(limit, gateways_) : nullptr};
  if (limit.from_policies) return info;
  const bool concurrency = limit.algorithm == config::Algorithm::kConcurrency;
  const auto most = [](std::int64_t max) { return std::optional(config::Rate{max, {}}); };
  rule.variant = add_variant(limit, concurrency ? most(limit.max) : limit.rate, limit.burst, info);
  for (const config::ByRate& by : limit.by) {
    const auto rate = concurrency && !by.unlimited ? most(by.max) : by.rate;
    rule.alternatives.push_back({id(by.attribute), by.value, add_variant(limit, rate, by.burst, info)});
  }
  return info;
}

VariantIndex Compiler::add_variant(const config::Limit& limit, const std::optional<config::Rate>& rate,
                                   std::int64_t capacity, LimitInfo& info) const {
  if (!rate) return kUnlimited;
  const auto wanted = build_limit(limit, *rate, capacity);
  if (!wanted) return kUnlimited;
  const auto known = static_cast<std::size_t>(std::ranges::find(info.variants, *wanted) - info.variants.begin());
  if (known < info.variants.size()) return static_cast<VariantIndex>(known);
  if (known >= kUnlimited) return kUnlimited;
  info.variants.push_back(*wanted);
  info.variant_rates.push_back(*rate);
  return static_cast<VariantIndex>(known);
}

void Compiler::set_cost(const config::Cost& cost, Rule& rule) const {
  constexpr limit::Cost kMost = limit::kMaxUnits;
  if (const auto* fixed = std::get_if<std::int64_t>(&cost)) {
    rule.cost = std::min(*fixed, kMost);
  } else if (const auto* response = std::get_if<config::ResponseCost>(&cost)) {
    rule.cost = std::min(response->reserve, kMost);
  } else {
    const auto& header = std::get<config::HeaderCost>(cost);
    rule.cost = FieldCost{identity::FieldName(header.header), std::min(header.fallback, kMost),
                          header.max > 0 ? std::min(header.max, kMost) : kMost};
  }
}

void Compiler::place(const config::Limit& limit, const LimitInfo& info, Rule& rule) {
  rule.spread = spread_of(limit);
  const bool spread = rule.spread.size() <= kMaxSpread || rule.spread.by_row;
  if (!spread) rule.spread = {};
  rule.kind = kind_for(subject_attributes(limit, spread), rule.shadow, rule.spread.size());
  rule.spread.first = static_cast<std::uint32_t>(layouts[rule.kind].slots.size());
  add_slots(info, rule);
  AccountKind& kind = kinds[rule.kind];
  kind.jittered |= limit.jitter;
  const auto sort = info.rows ? std::vector{info.rows->limit(0)} : info.variants;
  for (const limit::Limit& variant : sort) {
    const bool queued = variant.holds<limit::LeakyBucket>();
    const bool waits = queued || variant.holds<limit::Concurrency>();
    kind.queued |= queued;
    kind.last |= waits;
    rule.held |= waits;
  }
  rule.held |= info.settlement.needed();
}

Spread Compiler::spread_of(const config::Limit& limit) const {
  Spread spread;
  spread.by_endpoint = names(limit.per, "endpoint");
  spread.by_method = names(limit.per, "method");
  spread.by_row = limit.from_policies && !spread.by_endpoint && !limit.match.empty();
  if (spread.by_endpoint) spread.endpoints = static_cast<std::uint32_t>(router_.patterns().size()) + 1;
  if (spread.by_row) spread.endpoints = static_cast<std::uint32_t>(limit.match.size()) + 1;
  if (spread.by_method) spread.methods = kMethods;
  return spread;
}

std::uint32_t Compiler::kind_for(const std::vector<PerAttribute>& per, bool shadow, std::uint32_t slots) {
  const std::string text = kind_text(per, shadow);
  for (int part = 1;; ++part) {
    const std::string numbered = part == 1 ? text : text + '#' + std::to_string(part);
    const auto known = kind_by_text_.find(numbered);
    if (known == kind_by_text_.end()) return new_kind(numbered, per, shadow);
    if (layouts[known->second].slots.size() + slots <= kMaxSlots) return known->second;
  }
}

std::uint32_t Compiler::new_kind(const std::string& text, const std::vector<PerAttribute>& per, bool shadow) {
  AccountKind kind;
  kind.shadow = shadow;
  for (const PerAttribute& attribute : per) kind.attributes.push_back(id(attribute));
  const auto index = static_cast<std::uint32_t>(kinds.size());
  kinds.push_back(std::move(kind));
  layouts.push_back({.kind = text, .slots = {}, .expendable = shadow});
  kind_by_text_.emplace(text, index);
  return index;
}

void Compiler::add_slots(const LimitInfo& info, const Rule& rule) {
  auto& slots = layouts[rule.kind].slots;
  for (std::uint32_t endpoint = 0; endpoint < rule.spread.endpoints; ++endpoint) {
    std::string identity = info.name;
    if (rule.spread.by_endpoint || rule.spread.by_row) identity += '\n' + spread_endpoint(rule, router_, endpoint);
    for (std::uint32_t method = 0; method < rule.spread.methods; ++method) {
      const std::string apart = rule.spread.by_method ? '\n' + std::string(method_text(method)) : "";
      const store::LimitBook* book = info.rows ? &info.rows->shared() : nullptr;
      slots.push_back({identity + apart, info.variants, largest_cost(rule), book});
    }
  }
}

// Enforced before shadow, what is held for some time after the rest, narrow before wide, then as configured.
void Compiler::order_rules() {
  std::ranges::sort(rules, {}, [&](const Rule& rule) {
    const std::size_t values = kinds[rule.kind].attributes.size();
    return std::tuple(rule.shadow, kinds[rule.kind].last, ~values, rule.kind, rule.limit);
  });
}

void Compiler::build_indexes(const config::Config& config) {
  indexes.by_service.resize(config.services.size());
  indexes.by_pattern.resize(router_.patterns().size());
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const auto index = static_cast<RuleIndex>(i);
    const Rule& rule = rules[i];
    const auto& match = config.limits[rule.limit].match;
    for (const config::EndpointPattern& pattern : match) {
      auto& list = indexes.by_pattern[router_.pattern_index(pattern)];
      if (list.empty() || list.back() != index) list.push_back(index);
    }
    if (!match.empty()) continue;
    if (rule.services.empty()) indexes.everywhere.push_back(index);
    for (const std::size_t service : rule.services) indexes.by_service[service].push_back(index);
  }
}

// A name that is not in AttributeNames would come from another configuration; the name list is never empty.
identity::AttributeId Compiler::id(const PerAttribute& attribute) const { return *names_.find(attribute); }

identity::AttributeId Compiler::id(const std::string& attribute) const {
  return id(PerAttribute{PerAttribute::Source::kAttribute, attribute});
}

}  // namespace weir::policy
