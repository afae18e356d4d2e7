// SPDX-License-Identifier: Apache-2.0
#include "weir/policy/account_directory.h"

#include "weir/identity/attributes.h"
#include "weir/policy/compiler.h"
#include "weir/route/router.h"

namespace weir::policy {
namespace {

// As Compiler::add_slots numbers them.
void name_slots(const Rule& rule, const route::Router& router, const LimitInfo& info,
                std::vector<CountedSlot>& slots) {
  const Spread& spread = rule.spread;
  for (std::uint32_t i = 0; i < spread.size(); ++i) {
    CountedSlot& slot = slots[spread.first + i];
    slot.limit = rule.limit;
    slot.shadow = rule.shadow;
    slot.variants = info.variants;
    slot.rates = info.variant_rates;
    slot.rows = info.rows;
    slot.by_endpoint = spread.by_endpoint || spread.by_row;
    if (slot.by_endpoint) slot.endpoint = spread_endpoint(rule, router, i / spread.methods);
    if (spread.by_method) slot.method = method_text(i % spread.methods);
  }
}

}  // namespace

std::vector<CountedKind> account_directory(const config::Config& config) {
  const route::Router router(config);
  const identity::AttributeNames names(config);
  RowNumbersShelf shelf;  // whoever has a slot keeps its numbers
  const Compiler compiled(config, router, names, shelf);
  std::vector<CountedKind> kinds;
  for (std::size_t i = 0; i < compiled.kinds.size(); ++i) {
    CountedKind& kind =
        kinds.emplace_back(CountedKind{.per = {},
                                       .jittered = compiled.kinds[i].jittered,
                                       .kind = store::RedisKind(compiled.layouts[i], compiled.leasing),
                                       .slots = {}});
    kind.slots.resize(compiled.layouts[i].slots.size());
    for (const identity::AttributeId id : compiled.kinds[i].attributes) kind.per.push_back(per_text(names.all()[id]));
  }
  for (const Rule& rule : compiled.rules) {
    name_slots(rule, router, compiled.limits[rule.limit], kinds[rule.kind].slots);
  }
  return kinds;
}

}  // namespace weir::policy
