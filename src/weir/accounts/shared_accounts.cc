// SPDX-License-Identifier: Apache-2.0
#include "weir/accounts/shared_accounts.h"

#include <array>
#include <optional>
#include <utility>

namespace weir::accounts {

// An account, and where its counters are.
struct SharedAccounts::Opened {
  InForce in_force;
  Kinds chosen;
  store::AccountText account;
  std::vector<const store::RedisKind*> layouts;
  limit::Call call;

  store::AccountInspector::Subject subject(limit::Cost cost = 0) const { return {account, layouts, cost}; }
};

Result<SharedAccounts::Opened> SharedAccounts::open(const std::string& account) {
  InForce in_force = sources_.in_force();
  auto text = account_text(in_force.config->redis->prefix, account);
  if (!text) return std::unexpected(text.error());
  Kinds chosen = kinds_of(in_force, text->values());
  std::vector<const store::RedisKind*> layouts;
  for (const std::size_t number : chosen.numbers) layouts.push_back(in_force.policy->kinds()[number].shared.get());
  limit::Call call = sources_.now();
  call.phase = text->phase().value_or(0);
  return Opened{std::move(in_force), std::move(chosen), *std::move(text), std::move(layouts), call};
}

io::Task<Result<AccountReport>> SharedAccounts::inspect(std::string account, limit::Cost cost) {
  const auto opened = open(account);
  if (!opened) co_return std::unexpected(opened.error());
  const store::AccountInspector::Subject subject = opened->subject(cost);
  const auto findings = co_await inspector_.inspect(subject, opened->call);
  if (!findings) co_return std::unexpected(findings.error());
  co_return make_report(*opened->in_force.config, opened->account.name(), opened->chosen.kinds, *findings);
}

io::Task<Result<bool>> SharedAccounts::reset(std::string account) {
  const auto opened = open(account);
  if (!opened) co_return std::unexpected(opened.error());
  const store::AccountInspector::Subject subject = opened->subject();
  const auto forgotten = co_await inspector_.forget(subject);
  if (!forgotten) co_return std::unexpected(forgotten.error());
  co_return forgotten->account || forgotten->lists > 0;
}

Result<store::Adjustment> SharedAccounts::adjustment(const Opened& opened, const Place& place,
                                                     const store::SlotFinding& finding, limit::Cost amount) {
  const bool by_row = opened.layouts[place.kind]->slot(place.slot).book != nullptr;
  if (by_row && !finding.row_known) {
    return invalid("this gateway has not met the row by which the limit counts: ask one that has served the caller");
  }
  const auto slot = static_cast<std::uint16_t>(place.slot);
  return store::Adjustment{.slot = slot, .variant = finding.variant, .by = -amount, .at = finding.outcome.at};
}

io::Task<Result<ReportedCounter>> SharedAccounts::give_back(std::string account, Return what) {
  const auto opened = open(account);
  if (!opened) co_return std::unexpected(opened.error());
  const config::Config& config = *opened->in_force.config;
  const store::AccountInspector::Subject subject = opened->subject();
  const auto findings = co_await inspector_.inspect(subject, opened->call);
  if (!findings) co_return std::unexpected(findings.error());
  const auto place = find_returnable(config, opened->chosen.kinds, *findings, what.counter);
  if (!place) co_return std::unexpected(place.error());
  const policy::CountedSlot& slot = opened->chosen.kinds[place->kind].slots[place->slot];
  const auto change = adjustment(*opened, *place, findings->kinds[place->kind][place->slot], what.amount);
  if (!change) co_return std::unexpected(change.error());
  const std::array adjustments{*change};
  const store::RedisStore::Account where{*opened->layouts[place->kind], opened->account.name()};
  const bool done = co_await store_.adjust(where, adjustments, opened->call);
  if (!done) {
    co_return std::unexpected(
        Error{ErrorKind::kIo, Origin::kStore, "no usable answer in time: it is not known whether it was given back"});
  }
  const auto after = co_await inspector_.inspect(subject, opened->call);
  ReportedCounter counter = make_counter(config, slot, (after ? *after : *findings).kinds[place->kind][place->slot]);
  if (!after) counter.count.reset();
  co_return counter;
}

}  // namespace weir::accounts
