// SPDX-License-Identifier: Apache-2.0
#include "weir/policy/policy.h"

#include <algorithm>

#include "weir/limit/alignment.h"
#include "weir/policy/compiler.h"
#include "weir/policy/conditions.h"
#include "weir/policy/local_share.h"
#include "weir/policy/scene.h"

namespace weir::policy {
namespace {

using identity::AttributeId;
using identity::Attributes;

constexpr std::uint32_t kAbsent = UINT32_MAX;  // in place of a length

// Each value with its length before it, so that no two lists of values give the same text.
void append_value(std::string_view value, std::string& key) {
  std::uint32_t size = value.empty() ? kAbsent : static_cast<std::uint32_t>(value.size());
  for (int byte = 0; byte < 4; ++byte, size >>= 8) key += static_cast<char>(size & 0xFF);
  key += value;
}

VariantIndex variant_for(const Rule& rule, const Attributes& attributes) {
  const Rule::Alternative* alternative = alternative_for(rule, attributes);
  return alternative == nullptr ? rule.variant : alternative->variant;
}

// A decimal number, at most `max`; -1 when it is none.
limit::Cost parse_cost(std::string_view text, limit::Cost max) {
  limit::Cost cost = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return -1;
    cost = std::min(cost * 10 + (c - '0'), max);  // max <= 10^12, so that this cannot overflow
  }
  return text.empty() ? -1 : cost;
}

// What a field says is at least 1, so that nobody passes for free. Said twice, the cost is the highest: an
// additional line never makes a request cheaper.
limit::Cost cost_of(const FieldCost& cost, const http::RequestHead& request) {
  const identity::Single found = identity::find_field(request, cost.field);
  if (found.twice) return cost.max;
  const limit::Cost said = parse_cost(found.value, cost.max);
  return said < 0 ? cost.fallback : std::max<limit::Cost>(said, 1);
}

bool is_among(int status, const std::vector<config::StatusRange>& ranges) {
  return std::ranges::any_of(
      ranges, [status](const config::StatusRange& range) { return range.first <= status && status <= range.last; });
}

limit::Cost cost_of(const Rule& rule, const http::RequestHead& request) {
  const auto* fixed = std::get_if<limit::Cost>(&rule.cost);
  return fixed ? *fixed : cost_of(std::get<FieldCost>(rule.cost), request);
}

route::PatternIndex endpoint_of(const route::Route& route, bool shadow) {
  return shadow ? route.shadow_endpoint : route.endpoint;
}

// `row_endpoint`: that the row is for by which the rule acts.
std::uint16_t slot_of(const Rule& rule, const route::Route& route, route::PatternIndex row_endpoint,
                      std::string_view method) {
  const Spread& spread = rule.spread;
  std::uint32_t slot = spread.first;
  if (spread.by_row) {
    const auto own = std::ranges::find(rule.patterns, row_endpoint) - rule.patterns.begin();
    slot += static_cast<std::uint32_t>(own) * spread.methods;
  }
  if (spread.by_endpoint) slot += std::min(endpoint_of(route, rule.shadow), spread.endpoints - 1) * spread.methods;
  if (spread.by_method) slot += method_number(method);
  return static_cast<std::uint16_t>(slot);
}

}  // namespace

limit::Cost Settlement::cost(limit::Cost taken, int status, std::optional<std::string_view> told) const {
  const limit::Cost said = told ? parse_cost(*told, max) : -1;
  if (said >= 0) return said;
  switch (counted.rule) {
    case config::CountedAnswers::Rule::kAll:
      break;
    case config::CountedAnswers::Rule::kOnly:
      return is_among(status, counted.statuses) ? taken : 0;
    case config::CountedAnswers::Rule::kAllBut:
      return is_among(status, counted.statuses) ? 0 : taken;
  }
  return taken;
}

void Charges::clear() {
  accounts.clear();
  charges.clear();
  limits.clear();
  skipped.clear();
  names.clear();
  missing_refuses = kNone;
  unknown_refuses = kNone;
  unknown = false;
}

Policy::Policy(const config::Config& config, const route::Router& router, const identity::AttributeNames& names,
               store::MemoryStore& store, RowNumbersShelf& shelf)
    : store_(store) {
  Compiler compiled(config, router, names, shelf);
  if (config.redis) prefix_ = config.redis->prefix;
  for (std::size_t kind = 0; kind < compiled.kinds.size(); ++kind) {
    const store::Layout& layout = compiled.layouts[kind];
    AccountKind& made = compiled.kinds[kind];
    made.handle = store.adopt(config.redis ? compiled.local_layout(kind) : layout);
    if (config.redis) made.shared = std::make_shared<const store::RedisKind>(layout, compiled.leasing);
  }
  limits_ = std::move(compiled.limits);
  rules_ = std::move(compiled.rules);
  kinds_ = std::move(compiled.kinds);
  indexes_ = std::move(compiled.indexes);
  for (const auto& pattern : router.patterns()) endpoints_.push_back(pattern_text(pattern));
  for (const config::PerAttribute& attribute : names.all()) attributes_.push_back(per_text(attribute));
  ranks_ = router.ranks();
  needs_rows_ = std::ranges::any_of(rules_, &Rule::from_rows);
}

void Policy::charge(const route::Route& route, const http::RequestHead& request, const identity::Caller& caller,
                    Charges& charges, const CallerRows& rows) const {
  charges.clear();
  if (caller.bypass) return;
  find_rules(route, charges.rules);
  Scene scene{route, request, caller.attributes, rows};
  for (const RuleIndex index : charges.rules) apply(rules_[index], scene, charges);
}

// All rules that name this service and one of the endpoint patterns, ascending, once each.
void Policy::find_rules(const route::Route& route, std::vector<RuleIndex>& found) const {
  found = indexes_.everywhere;
  const auto& of_service = indexes_.by_service[route.service];
  found.insert(found.end(), of_service.begin(), of_service.end());
  for (const route::PatternIndex pattern : route.patterns) {
    for (const RuleIndex index : indexes_.by_pattern[pattern]) {
      if (serves(rules_[index], route.service)) found.push_back(index);
    }
  }
  if (found.size() == indexes_.everywhere.size()) return;
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
}

void Policy::apply(const Rule& rule, Scene& scene, Charges& charges) const {
  if (hindrance(rule, scene.attributes) != nullptr) return;
  const RowTable::Acting acting = rule.from_rows ? row_of(rule, scene, charges)
                                                 : RowTable::Acting{.variant = variant_for(rule, scene.attributes)};
  const VariantIndex variant = acting.variant;
  if (variant == kUnlimited || !enter(rule, scene, charges)) return;
  const std::string_view method = scene.attributes.get(identity::kMethod);
  const std::uint16_t slot = slot_of(rule, scene.route, acting.endpoint, method);
  charges.charges.push_back({slot, variant, cost_of(rule, scene.request)});
  const LimitInfo& info = limits_[rule.limit];
  charges.limits.push_back({rule.limit, variant, rule.breadth, info.on_store_failure, rule.held ? &info : nullptr});
  ++charges.accounts.back().count;
}

// The row that holds for this request, if it has the rule's mode.
RowTable::Acting Policy::row_of(const Rule& rule, const Scene& scene, Charges& charges) const {
  if (!scene.attributes.has(identity::kPartner)) return {};
  if (!scene.rows.known) {
    note_unknown(rule, charges);
    return {};
  }
  const auto acting = scene.rows.find(row_scope(rule, scene.route));
  const bool acts = acting && (rule.any_mode || acting->shadow == rule.shadow);
  return acts ? *acting : RowTable::Acting();
}

// What a row has to be for.
RowTable::Scope Policy::row_scope(const Rule& rule, const route::Route& route) const {
  return {.limit = rule.limit,
          .service = rule.by_service ? route.service : RowTable::kEvery,
          .endpoint = row_endpoint(rule, route)};
}

// The most specific of the limit's own patterns. Both rules of a limit go by the same endpoint, so that each row acts
// through one of them.
route::PatternIndex Policy::row_endpoint(const Rule& rule, const route::Route& route) const {
  if (rule.patterns.empty()) return rule.by_endpoint ? route.endpoint : RowTable::kEvery;
  route::PatternIndex best = RowTable::kEvery;
  for (const route::PatternIndex pattern : route.patterns) {
    if (!std::ranges::binary_search(rule.patterns, pattern)) continue;
    if (best == RowTable::kEvery || ranks_[pattern] < ranks_[best]) best = pattern;
  }
  return best;
}

void Policy::note_unknown(const Rule& rule, Charges& charges) const {
  if (rule.shadow) return;
  if (limits_[rule.limit].on_store_failure == config::StoreFailure::kClosed) {
    charges.unknown_refuses = std::min(charges.unknown_refuses, rule.limit);
  } else {
    charges.unknown = true;
  }
}

// Makes the last account the one that this rule charges; false when the rule has none because a value is missing.
bool Policy::enter(const Rule& rule, Scene& scene, Charges& charges) const {
  if (scene.kind != rule.kind) {
    scene.kind = rule.kind;
    scene.opened = false;
    scene.lacks = std::ranges::any_of(kinds_[rule.kind].attributes, [&](AttributeId id) {
      return can_be_missing(id) && !scene.attributes.has(id);
    });
  }
  if (scene.lacks && rule.missing == config::Missing::kRefuse && !rule.shadow) {
    charges.missing_refuses = std::min(charges.missing_refuses, rule.limit);
    return false;
  }
  if (scene.lacks && rule.missing != config::Missing::kShare) {
    charges.skipped.push_back(rule.limit);
    return false;
  }
  if (!scene.opened || charges.accounts.back().count == Charges::kMaxRun) open_account(rule, scene, charges);
  return true;
}

void Policy::open_account(const Rule& rule, Scene& scene, Charges& charges) const {
  const auto first = static_cast<std::uint32_t>(charges.charges.size());
  const AccountKind& kind = kinds_[rule.kind];
  if (scene.opened) {  // the run of this account is full
    AccountCharges again = charges.accounts.back();
    again.first = first;
    again.count = 0;
    charges.accounts.push_back(again);
    return;
  }
  scene.opened = true;
  charges.key.clear();
  for (const AttributeId id : kind.attributes) append_value(subject_value(id, rule.shadow, scene), charges.key);
  charges.accounts.push_back({.kind = kind.handle,
                              .subject = store_.subject(charges.key),
                              .phase = kind.jittered ? phase_of(kind, rule.shadow, scene, charges.key) : 0,
                              .first = first,
                              .count = 0,
                              .shadow = kind.shadow,
                              .queued = kind.queued});
  if (kind.shared == nullptr) return;
  AccountCharges& opened = charges.accounts.back();
  opened.shared = &kind.shared;
  opened.name = static_cast<std::uint32_t>(charges.names.size());
  opened.name_size = static_cast<std::uint32_t>(name_account(kind, rule.shadow, scene, charges.names).size());
}

// Appends the name of the account in a shared store.
std::string_view Policy::name_account(const AccountKind& kind, bool shadow, const Scene& scene,
                                      std::string& names) const {
  const std::size_t begin = names.size();
  store::AccountName name(prefix_, names);
  for (const AttributeId id : kind.attributes) name.add(subject_value(id, shadow, scene));
  name.finish();
  return std::string_view(names).substr(begin);
}

Fingerprint Policy::subject_of(std::span<const std::string> values) const {
  std::string key;
  for (const std::string& value : values) append_value(value, key);
  return store_.subject(key);
}

std::string Policy::account_text(LimitIndex limit, bool shadow, const route::Route& route,
                                 const http::RequestHead& request, const identity::Caller& caller) const {
  const auto rule = std::ranges::find_if(
      rules_, [&](const Rule& one) { return one.limit == limit && one.shadow == shadow; });
  const CallerRows none;
  const Scene scene{route, request, caller.attributes, none};
  std::string name;
  name_account(kinds_[rule->kind], shadow, scene, name);
  return account_text(name);
}

// `prefix:{values}`.
std::string Policy::account_text(std::string_view name) const {
  name.remove_prefix(prefix_.size() + 2);
  name.remove_suffix(1);
  return std::string(name);
}

// Of the key as people write it: the values, joined by commas.
std::uint64_t Policy::phase_of(const AccountKind& kind, bool shadow, const Scene& scene, std::string& room) const {
  room.clear();
  for (const AttributeId id : kind.attributes) {
    if (id != kind.attributes.front()) room += ',';
    for (const char c : subject_value(id, shadow, scene)) {
      if (c == ',' || c == '\\') room += '\\';
      room += c;
    }
  }
  return limit::fnv1a(room);
}

std::string_view Policy::subject_value(AttributeId id, bool shadow, const Scene& scene) const {
  if (id == identity::kMethod) return method_text(method_number(scene.attributes.get(id)));
  if (id != identity::kEndpoint) return scene.attributes.get(id);
  const route::PatternIndex endpoint = endpoint_of(scene.route, shadow);
  return endpoint == route::Route::kNoEndpoint ? std::string_view() : endpoints_[endpoint];
}

}  // namespace weir::policy
