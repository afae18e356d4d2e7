// SPDX-License-Identifier: Apache-2.0
//
// Compiles the limits of a configuration: which limits share a kind of account, which slots its records have, and
// which rules a request has to look at.
//
// The text of a kind and of a slot stays the same across reloads as long as `name`, `per`, `mode`, endpoint and
// method do, whatever else changes around them; so counters stay. Only the `per` list is compared, in its order.
// Thread safety: one thread, used once.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "weir/policy/policy.h"
#include "weir/policy/rule.h"

namespace weir::policy {

// E.g. "partner", "header:X-Tenant".
std::string per_text(const config::PerAttribute& attribute);

// The endpoint that a counter among those of a spread rule is for; empty: the one for all others.
std::string spread_endpoint(const Rule& rule, const route::Router& router, std::uint32_t number);

class Compiler {
 public:
  // `shelf`: where the numbers of rows are kept.
  Compiler(const config::Config& config, const route::Router& router, const identity::AttributeNames& names,
           RowNumbersShelf& shelf);

  // What a gateway counts by itself of this kind while the shared store is away.
  store::Layout local_layout(std::size_t kind) const;

  // Results. The handles of the kinds are still to be set to what a store says about the layouts.
  std::vector<LimitInfo> limits;
  std::vector<Rule> rules;
  std::vector<AccountKind> kinds;
  std::vector<store::Layout> layouts;  // parallel to kinds
  store::Leasing leasing;              // of a shared store
  RuleIndexes indexes;

 private:
  // Endpoints and methods that `per` names are slots as long as these are few; beyond that, every record would be
  // mostly empty, so they become values of the subject.
  static constexpr std::uint32_t kMaxSpread = 256;
  // Slots are numbered with 16 bits. What does not fit any more goes to another kind.
  static constexpr std::uint32_t kMaxSlots = UINT16_MAX;

  void add_limit(const config::Limit& limit);
  Rule make_rule(const config::Limit& limit) const;
  void add_row_rules(const config::Limit& limit, const Rule& rule, const LimitInfo& info);
  LimitInfo make_info(const config::Limit& limit, Rule& rule) const;
  VariantIndex add_variant(const config::Limit& limit, const std::optional<config::Rate>& rate, std::int64_t capacity,
                           LimitInfo& info) const;
  void set_cost(const config::Cost& cost, Rule& rule) const;
  void place(const config::Limit& limit, const LimitInfo& info, Rule& rule);
  Spread spread_of(const config::Limit& limit) const;
  std::uint32_t kind_for(const std::vector<config::PerAttribute>& per, bool shadow, std::uint32_t slots);
  std::uint32_t new_kind(const std::string& text, const std::vector<config::PerAttribute>& per, bool shadow);
  void add_slots(const LimitInfo& info, const Rule& rule);
  void order_rules();
  void build_indexes(const config::Config& config);
  identity::AttributeId id(const config::PerAttribute& attribute) const;
  identity::AttributeId id(const std::string& attribute) const;

  const route::Router& router_;
  const identity::AttributeNames& names_;
  RowNumbersShelf& shelf_;
  std::uint32_t gateways_;  // that share a store; 0: there is none
  std::unordered_map<std::string, std::uint32_t> kind_by_text_;
};

}  // namespace weir::policy
