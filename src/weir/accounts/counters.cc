// SPDX-License-Identifier: Apache-2.0
#include "weir/accounts/counters.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir::accounts {
namespace {

bool matches(const policy::CountedSlot& slot, const CounterId& id) {
  return (id.endpoint.empty() || slot.endpoint == id.endpoint) && (id.method.empty() || slot.method == id.method) &&
         (!id.shadow || slot.shadow == *id.shadow);
}

std::string name_of(const policy::CountedSlot& slot, const std::string& limit) {
  std::string name = limit;
  if (slot.by_endpoint) name += slot.endpoint.empty() ? " of no endpoint" : " of endpoint '" + slot.endpoint + "'";
  if (!slot.method.empty()) name += " of method " + slot.method;
  if (slot.shadow) name += " (shadow)";
  return name;
}

Result<Place> find_used(const config::Config& config, const std::vector<policy::CountedKind>& kinds,
                        const store::AccountFindings& findings, const CounterId& id) {
  std::vector<Place> found;
  std::string names;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    for (std::size_t slot = 0; slot < kinds[kind].slots.size(); ++slot) {
      const policy::CountedSlot& counted = kinds[kind].slots[slot];
      const bool is_meant = config.limits[counted.limit].name == id.limit && matches(counted, id);
      if (!is_meant || !findings.kinds[kind][slot].found) continue;
      found.push_back({kind, slot});
      names += (names.empty() ? "" : "; ") + name_of(counted, id.limit);
    }
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) return invalid(fmt::format("nothing is counted in this account by limit '{}'", id.limit));
  return invalid(
      fmt::format("limit '{}' has several counters in this account, one has to be named: {}", id.limit, names));
}

Result<void> check_returnable(const config::Limit& limit) {
  if (limit.algorithm == config::Algorithm::kConcurrency) {
    return invalid(fmt::format("limit '{}' counts what runs: a place is free when its request ends", limit.name));
  }
  if (limit.algorithm == config::Algorithm::kSlidingLog) {
    return invalid(
        fmt::format("limit '{}' remembers each request by itself: only all of them can be forgotten", limit.name));
  }
  return {};
}

}  // namespace

Kinds kinds_of(const InForce& in_force, std::size_t values) {
  std::vector<policy::CountedKind> all = policy::account_directory(*in_force.config);
  Kinds found;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].per.size() != values) continue;
    for (policy::CountedSlot& slot : all[i].slots) {
      if (slot.rows) slot.rows = in_force.policy->limits()[slot.limit].rows;
    }
    found.kinds.push_back(std::move(all[i]));
    found.numbers.push_back(i);
  }
  return found;
}

Result<Place> find_returnable(const config::Config& config, const std::vector<policy::CountedKind>& kinds,
                              const store::AccountFindings& findings, const CounterId& id) {
  const auto place = find_used(config, kinds, findings, id);
  if (!place) return place;
  const auto can = check_returnable(config.limits[kinds[place->kind].slots[place->slot].limit]);
  return can ? place : std::unexpected(can.error());
}

Result<store::AccountText> account_text(std::string_view prefix, const std::string& text) {
  auto account = store::AccountText::read(prefix, text);
  if (account) return *std::move(account);
  return invalid(
      "not an account: the values of `per` are joined by commas; in a value, `,` is `\\,`, `\\` "
      "is `\\\\`, `{` is `\\(` and `}` is `\\)`");
}

}  // namespace weir::accounts
