// SPDX-License-Identifier: Apache-2.0
//
// Limits as they are applied to requests: configuration names replaced by numbers, everything that can be known
// beforehand computed. Thread safety: immutable after compilation.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "weir/config/config.h"
#include "weir/identity/attributes.h"
#include "weir/identity/sources.h"
#include "weir/limit/outcome.h"
#include "weir/route/router.h"
#include "weir/store/memory/memory_store.h"
#include "weir/store/redis/redis_kind.h"

namespace weir::policy {

using LimitIndex = std::uint16_t;    // in Policy::limits(), configuration order
using RuleIndex = std::uint16_t;     // in the order in which accounts are asked
using VariantIndex = std::uint32_t;  // in LimitInfo::variants, or in its RowNumbers
inline constexpr VariantIndex kUnlimited = UINT32_MAX;

// A cost that a field of the request names.
struct FieldCost {
  identity::FieldName field;
  limit::Cost fallback;
  limit::Cost max;
};

// Where the counter of a limit is found among the slots of its account: one slot, or one for each endpoint (the last
// one for requests without), each method, or each pair of them.
struct Spread {
  bool by_endpoint = false;
  bool by_row = false;  // or by which endpoint the row is for: the rule's own patterns, and the last one for none
  bool by_method = false;
  std::uint32_t first = 0;
  std::uint32_t endpoints = 1;
  std::uint32_t methods = 1;

  std::uint32_t size() const { return endpoints * methods; }
};

struct Rule {
  struct Alternative {
    identity::AttributeId attribute;
    std::string value;
    VariantIndex variant;
  };

  LimitIndex limit = 0;
  std::uint32_t kind = 0;  // index of the AccountKind
  Spread spread;
  config::Missing missing = config::Missing::kSkip;
  bool shadow = false;
  bool held = false;  // something is still to be done when a request has been admitted: see ChargedLimit
  std::uint16_t breadth = 0;
  // With `rate: policies` a limit is two rules, enforced and shadow: each acts on callers whose row has its mode, by
  // the numbers of the row. What the row is found by:
  bool from_rows = false;
  bool by_service = false;
  bool any_mode = false;                      // the limit itself is a shadow, whatever its rows say
  std::vector<route::PatternIndex> patterns;  // of `match`, ascending
  bool by_endpoint = false;                   // without any: by whatever endpoint an enforced limit names
  VariantIndex variant = kUnlimited;
  std::vector<Alternative> alternatives;
  std::vector<identity::AttributeId> only_if_missing;
  std::vector<std::size_t> services;  // ascending; empty: all
  std::variant<limit::Cost, FieldCost> cost;
};

// What limits with the same `per` share.
struct AccountKind {
  store::MemoryStore::Kind handle;                 // with a shared store: of what counts while that is away
  std::shared_ptr<const store::RedisKind> shared;  // null: counted in memory
  std::vector<identity::AttributeId> attributes;   // whose values name the subject, in the order of `per`
  bool shadow = false;
  bool jittered = false;  // some window begins at the subject's phase
  bool queued = false;    // there is a line to wait in
  bool last = false;      // some limit holds a place for some time: such accounts are asked after all others
};

// The rules that a request has to look at. Each list is ascending.
struct RuleIndexes {
  std::vector<RuleIndex> everywhere;               // neither `match` nor `services`
  std::vector<std::vector<RuleIndex>> by_service;  // `services` without `match`
  std::vector<std::vector<RuleIndex>> by_pattern;  // `match`, whatever `services` says
};

// Methods that are counted apart; HEAD counts as GET, and all unknown ones count together.
inline constexpr std::uint32_t kMethods = 9;
std::uint32_t method_number(std::string_view method);
std::string_view method_text(std::uint32_t number);

// Method and path of a pattern, however it was spaced.
std::string pattern_text(const config::EndpointPattern& pattern);

}  // namespace weir::policy
