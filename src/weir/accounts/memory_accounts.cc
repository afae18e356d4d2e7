// SPDX-License-Identifier: Apache-2.0
#include "weir/accounts/memory_accounts.h"

#include <array>
#include <utility>

#include "weir/store/redis/foresight.h"

namespace weir::accounts {
namespace {

// Only what is used can be told from what never was.
store::SlotFinding finding_of(const store::MemoryStore::Look& look, bool has_rows, const limit::Call& call,
                              limit::Cost cost) {
  store::SlotFinding finding;
  finding.found = look.used;
  finding.variant = look.variant;
  finding.outcome = look.outcome;
  finding.row_known = has_rows && look.used;
  if (cost > 0 && look.limit != nullptr) {
    const bool is_list = look.limit->keeps_entries();
    finding.asked = is_list ? store::foresee(*look.limit, look.outcome, call, cost) : look.asked;
  }
  return finding;
}

}  // namespace

// An account, and where its counters are.
struct MemoryAccounts::Opened {
  InForce in_force;
  Kinds chosen;
  std::string name;
  Fingerprint subject;
  limit::Call call;

  const store::MemoryStore::Kind& kind(std::size_t index) const {
    return in_force.policy->kinds()[chosen.numbers[index]].handle;
  }
};

Result<MemoryAccounts::Opened> MemoryAccounts::open(const std::string& account) {
  const auto text = account_text({}, account);
  if (!text) return std::unexpected(text.error());
  if (!text->plain()) return invalid("the values of `per` of this account are not known, only their fingerprint");
  Opened opened{
      .in_force = sources_.in_force(), .chosen = {}, .name = account, .subject = {}, .call = sources_.now()};
  opened.chosen = kinds_of(opened.in_force, text->values());
  opened.subject = opened.in_force.policy->subject_of(*text->plain());
  opened.call.phase = text->phase().value_or(0);
  return opened;
}

store::AccountFindings MemoryAccounts::look(const Opened& opened, limit::Cost cost) {
  store::AccountFindings findings;
  findings.cost = cost;
  for (std::size_t kind = 0; kind < opened.chosen.kinds.size(); ++kind) {
    const auto& slots = opened.chosen.kinds[kind].slots;
    auto& found = findings.kinds.emplace_back();
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      const auto number = static_cast<std::uint16_t>(slot);
      const auto look = store_.look(opened.kind(kind), opened.subject, number, opened.call, cost);
      found.push_back(finding_of(look, slots[slot].rows != nullptr, opened.call, cost));
      findings.exists |= look.used;
    }
  }
  return findings;
}

io::Task<Result<AccountReport>> MemoryAccounts::inspect(std::string account, limit::Cost cost) {
  const auto opened = open(account);
  if (!opened) co_return std::unexpected(opened.error());
  co_return make_report(*opened->in_force.config, opened->name, opened->chosen.kinds, look(*opened, cost));
}

io::Task<Result<bool>> MemoryAccounts::reset(std::string account) {
  const auto opened = open(account);
  if (!opened) co_return std::unexpected(opened.error());
  const bool existed = look(*opened, 0).exists;
  for (std::size_t kind = 0; kind < opened->chosen.kinds.size(); ++kind) {
    store_.reset(opened->kind(kind), opened->subject);
  }
  co_return existed;
}

io::Task<Result<ReportedCounter>> MemoryAccounts::give_back(std::string account, Return what) {
  const auto opened = open(account);
  if (!opened) co_return std::unexpected(opened.error());
  const config::Config& config = *opened->in_force.config;
  const store::AccountFindings findings = look(*opened, 0);
  const auto place = find_returnable(config, opened->chosen.kinds, findings, what.counter);
  if (!place) co_return std::unexpected(place.error());
  const store::SlotFinding& finding = findings.kinds[place->kind][place->slot];
  const policy::CountedSlot& slot = opened->chosen.kinds[place->kind].slots[place->slot];
  const std::array adjustments{store::Adjustment{.slot = static_cast<std::uint16_t>(place->slot),
                                                 .variant = finding.variant,
                                                 .by = -what.amount,
                                                 .at = finding.outcome.at}};
  store_.adjust(opened->kind(place->kind), opened->subject, adjustments, opened->call);
  co_return make_counter(config, slot, look(*opened, 0).kinds[place->kind][place->slot]);
}

}  // namespace weir::accounts
