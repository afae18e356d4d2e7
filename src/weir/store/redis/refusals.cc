// SPDX-License-Identifier: Apache-2.0
#include "weir/store/redis/refusals.h"

#include <algorithm>

namespace weir::store {
namespace {

using limit::Outcome;
using limit::Ticks;

constexpr std::size_t kMostOfAnAccount = 16;
constexpr Ticks kBetweenLooks = 1'000'000'000;

Ticks later(Ticks duration, Ticks elapsed) { return std::max<Ticks>(1, duration - elapsed); }

// Somebody who only waits: what remains can have grown, which is not known here.
void age(Outcome& outcome, Ticks elapsed) {
  if (!outcome.admitted && outcome.retry_after) *outcome.retry_after = later(*outcome.retry_after, elapsed);
  if (outcome.reset_after > 0) outcome.reset_after = later(outcome.reset_after, elapsed);
  if (outcome.next_after) *outcome.next_after = later(*outcome.next_after, elapsed);
}

}  // namespace

void Refusals::remember(std::string_view account, std::uint64_t kind, std::span<const Charge> charges, Ticks now,
                        Ticks most, std::span<const Outcome> outcomes) {
  Ticks wait = 0;
  for (const Outcome& outcome : outcomes) {
    if (!outcome.admitted) wait = std::max(wait, outcome.retry_after.value_or(most));
  }
  if (wait <= 0) return;
  auto found = accounts_.find(account);
  if (found == accounts_.end()) {
    if (accounts_.size() >= most_) make_room(now);
    found = accounts_.emplace(std::string(account), std::vector<Refusal>()).first;
  }
  std::vector<Refusal>& refusals = found->second;
  std::erase_if(refusals, [&](const Refusal& one) {
    return one.until <= now || (one.kind == kind && std::ranges::equal(one.charges, charges));
  });
  if (refusals.size() >= kMostOfAnAccount) refusals.erase(refusals.begin());
  refusals.push_back(
      {kind, {charges.begin(), charges.end()}, {outcomes.begin(), outcomes.end()}, now, now + std::min(wait, most)});
}

bool Refusals::recall(std::string_view account, std::uint64_t kind, std::span<const Charge> charges, Ticks now,
                      std::span<Outcome> outcomes) {
  if (accounts_.empty()) return false;
  const auto found = accounts_.find(account);
  if (found == accounts_.end()) return false;
  std::erase_if(found->second, [now](const Refusal& one) { return one.until <= now; });
  if (found->second.empty()) {
    accounts_.erase(found);
    return false;
  }
  for (const Refusal& one : found->second) {
    if (one.kind != kind || !std::ranges::equal(one.charges, charges)) continue;
    std::ranges::copy(one.outcomes, outcomes.begin());
    for (Outcome& outcome : outcomes) age(outcome, now - one.at);
    return true;
  }
  return false;
}

void Refusals::forget(std::string_view account) {
  if (const auto found = accounts_.find(account); found != accounts_.end()) accounts_.erase(found);
}

// Not everything is looked through for each that comes: most of it may last longer.
void Refusals::make_room(Ticks now) {
  if (now - looked_through_ >= kBetweenLooks) {
    looked_through_ = now;
    std::erase_if(accounts_, [now](const auto& one) {
      return std::ranges::all_of(one.second, [now](const Refusal& refusal) { return refusal.until <= now; });
    });
  }
  if (accounts_.size() >= most_) accounts_.erase(accounts_.begin());
}

}  // namespace weir::store
