// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/recent_refusals.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace weir::gateway {

bool RecentRefusals::note(const Refusal& refusal) {
  const std::lock_guard lock(mutex_);
  if (sets_ == nullptr) return false;
  for (Entry& entry : (*sets_)[refusal.who.low % kSets]) {
    RefusedAccount& account = entry.account;
    if (entry.who != refusal.who || account.shadow != refusal.shadow || account.refused == 0) continue;
    ++account.refused;
    account.last = refusal.at;
    account.until = refusal.until;
    return true;
  }
  return false;
}

void RecentRefusals::add(const Refusal& refusal, Names names) {
  const std::lock_guard lock(mutex_);
  if (sets_ == nullptr) sets_ = std::make_unique<std::array<Set, kSets>>();
  Set& set = (*sets_)[refusal.who.low % kSets];
  Entry& oldest = *std::ranges::min_element(set, {}, [](const Entry& one) { return one.account.last; });
  oldest = {refusal.who,
            {.limit = std::move(names.limit),
             .account = std::move(names.account),
             .shadow = refusal.shadow,
             .refused = 1,
             .first = refusal.at,
             .last = refusal.at,
             .until = refusal.until}};
}

void RecentRefusals::add_to(std::vector<RefusedAccount>& all, WallTime since) const {
  for (std::size_t i = 0; i < kSets; ++i) {  // each by itself, so that nobody is held up
    const std::lock_guard lock(mutex_);
    if (sets_ == nullptr) return;
    for (const Entry& entry : (*sets_)[i]) {
      if (entry.account.refused > 0 && entry.account.last >= since) all.push_back(entry.account);
    }
  }
}

std::vector<RefusedAccount> merged(std::vector<RefusedAccount> all) {
  std::map<std::tuple<std::string, std::string, bool>, RefusedAccount> by_name;
  for (RefusedAccount& one : all) {
    const auto [place, is_new] = by_name.try_emplace({one.limit, one.account, one.shadow}, one);
    if (is_new) continue;
    RefusedAccount& known = place->second;
    known.refused += one.refused;
    known.first = std::min(known.first, one.first);
    if (one.last >= known.last) known.until = one.until;
    known.last = std::max(known.last, one.last);
  }
  std::vector<RefusedAccount> merged;
  for (auto& [name, one] : by_name) merged.push_back(std::move(one));
  std::ranges::stable_sort(merged, std::greater(), &RefusedAccount::last);
  return merged;
}

}  // namespace weir::gateway
