// SPDX-License-Identifier: Apache-2.0
#include "weir/store/redis/account_inspector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "weir/store/redis/wire.h"

namespace weir::store {
namespace {

using redis::Call;

Error failure(Call::End end, nanoseconds budget) {
  if (end != Call::End::kTimedOut) return {ErrorKind::kUnavailable, Origin::kStore, "it cannot be reached"};
  const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(budget).count();
  return {ErrorKind::kTimeout, Origin::kStore, fmt::format("no usable answer within {} ms", millis)};
}

SlotId id_of(const FoundSlot& slot) {
  SlotId id = 0;
  std::memcpy(&id, slot.head.data(), std::min(sizeof id, slot.head.size()));
  return id;
}

// Where the windows of a slot begin, as whoever wrote it has it.
std::uint64_t written_phase(const FoundSlot& slot) {
  const auto limit = read_head(slot.head);
  if (!limit) return 0;
  if (const auto* one = std::get_if<limit::FixedWindow>(&limit->algorithm())) {
    return static_cast<std::uint64_t>(one->numbers().alignment.offset);
  }
  const auto* one = std::get_if<limit::SlidingWindow>(&limit->algorithm());
  return one == nullptr ? 0 : static_cast<std::uint64_t>(one->numbers().alignment.offset);
}

// The variant by whose numbers it was written; of a slot with a book, among those that this process has met. Absent:
// none.
std::optional<std::uint32_t> writer_of(const RedisKind& kind, std::uint16_t index, const FoundSlot& slot,
                                       std::uint64_t phase) {
  const RedisKind::KeptSlot& kept = kind.slot(index);
  const std::uint32_t first = kept.book == nullptr ? 0 : 1;  // the first one of a book is its sort
  const auto end = kept.book == nullptr ? static_cast<std::uint32_t>(kept.variants.size()) : kept.book->size();
  for (std::uint32_t i = first; i < end; ++i) {
    const RedisKind::Variant& variant = kind.variant(index, i);
    std::string head = variant.head;
    if (head.empty()) append_head(kept.id, variant.limit, phase, head);
    if (slot.head == head) return i;
  }
  return std::nullopt;
}

// A counter as far as it is at hand.
struct Counter {
  const FoundSlot* slot = nullptr;
  limit::Outcome peek;  // in the ticks of the layout; used only where a list is counted
};

// In the ticks of the layout.
Foreseen foresee_counter(const RedisKind::KeptSlot& kept, const RedisKind::Variant& variant, const Counter& counter,
                         const limit::Call& call, limit::Cost cost) {
  if (has_list(variant.form)) {
    const auto in_micros = [&](Micros value) { return (value + variant.ticks - 1) / variant.ticks; };
    limit::Outcome seen = counter.peek;
    seen.reset_after = in_micros(seen.reset_after);
    if (seen.next_after) seen.next_after = in_micros(*seen.next_after);
    return {counter.peek, in_ticks(foresee(variant.limit, seen, call, cost), variant.ticks)};
  }
  std::string head = variant.head;
  if (head.empty()) append_head(kept.id, variant.limit, call.phase, head);
  const StateWords words = state_of(variant, head, counter.slot, call);
  const Foreseen foreseen = foresee(variant.limit, words, call, cost);
  return {in_ticks(foreseen.seen, variant.ticks), in_ticks(foreseen.asked, variant.ticks)};
}

bool has_slot(std::span<const RedisKind* const> kinds, const FoundSlot& slot) {
  return std::ranges::any_of(kinds, [&](const RedisKind* kind) {
    return std::ranges::any_of(kind->slots(), [&](const auto& kept) { return names(slot.head, kept.id); });
  });
}

ForeignSlot describe_foreign(const FoundSlot& slot, Micros now, limit::Cost cost = 0) {
  ForeignSlot foreign{.id = id_of(slot), .limit = read_head(slot.head), .outcome = {}};
  if (!foreign.limit || foreign.limit->keeps_entries()) return foreign;
  const StateWords words = read_state(*foreign.limit, slot.state, now);
  const Foreseen foreseen = foresee(*foreign.limit, words, {.now = 0, .wall = now}, cost);
  foreign.outcome = foreseen.seen;
  if (cost > 0) foreign.asked = foreseen.asked;
  return foreign;
}

void describe_written(std::span<const RedisKind* const> kinds, const FoundAccount& found, Micros now,
                      limit::Cost cost, AccountFindings& findings) {
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    for (std::size_t i = 0; i < findings.kinds[kind].size(); ++i) {
      const RedisKind::KeptSlot& kept = kinds[kind]->slot(i);
      const FoundSlot* slot = found.find(kept.id);
      if (kept.book != nullptr && slot != nullptr)
        findings.kinds[kind][i].written = describe_foreign(*slot, now, cost);
    }
  }
}

// Of slots without a book. A list is not at hand, so a peek has to do there.
void describe_asked(const AccountInspector::Subject& subject, const FoundAccount& found, Micros now,
                    AccountFindings& findings) {
  for (std::size_t kind = 0; kind < subject.kinds.size(); ++kind) {
    for (std::size_t i = 0; i < findings.kinds[kind].size(); ++i) {
      const RedisKind::KeptSlot& kept = subject.kinds[kind]->slot(i);
      SlotFinding& finding = findings.kinds[kind][i];
      if (kept.book != nullptr && !finding.row_known) continue;
      const RedisKind::Variant& variant =
          subject.kinds[kind]->variant(static_cast<std::uint16_t>(i), finding.variant);
      const FoundSlot* slot = found.find(kept.id);
      const std::uint64_t own = slot == nullptr ? 0 : written_phase(*slot);
      const limit::Call call{.now = 0, .wall = now, .phase = subject.account.phase().value_or(own)};
      finding.asked = foresee_counter(kept, variant, {slot, finding.outcome}, call, subject.cost).asked;
    }
  }
}

// What the lists of this account can be called, whoever made them.
std::vector<std::string> lists_of(const AccountInspector::Subject& subject, const FoundAccount& found) {
  std::vector<std::string> lists;
  for (const RedisKind* kind : subject.kinds) {
    for (const RedisKind::KeptSlot& slot : kind->slots()) {
      lists.insert(lists.end(), slot.lists.begin(), slot.lists.end());
    }
  }
  for (const FoundSlot& slot : found.slots()) {
    const auto limit = read_head(slot.head);
    if (limit && limit->keeps_entries()) lists.push_back(list_name(id_of(slot), form_of(*limit)));
  }
  std::ranges::sort(lists);
  lists.erase(std::ranges::unique(lists).begin(), lists.end());
  return lists;
}

}  // namespace

io::Task<Result<redis::Reply>> AccountInspector::ask(std::string_view account, const redis::Command& command) {
  const Instant until = client_.loop().now() + budget_;
  redis::Answer answer = co_await client_.ask(account, command, until);
  if (!answer.answered()) co_return std::unexpected(failure(answer.end, budget_));
  const redis::ReplyView view = answer.reply.view();
  if (view.is_error()) {
    co_return std::unexpected(
        Error{ErrorKind::kUnavailable, Origin::kStore, fmt::format("it answers: {}", view.text())});
  }
  co_return std::move(answer.reply);
}

io::Task<Result<Micros>> AccountInspector::now(std::string_view account, limit::Call call) {
  if (clock_ == RedisStore::Clock::kCall) co_return call.wall / 1000;
  const redis::Command command{"TIME"};
  const Result<redis::Reply> reply = co_await ask(account, command);
  if (!reply) co_return std::unexpected(reply.error());
  co_return redis::time_of(reply->view()).value_or(0);
}

io::Task<Result<AccountFindings>> AccountInspector::inspect(Subject subject, limit::Call call) {
  AccountFindings findings;
  const redis::Command get{"GET", subject.account.name()};
  const Result<redis::Reply> record = co_await ask(subject.account.name(), get);
  if (!record) co_return std::unexpected(record.error());
  const redis::Command pttl{"PTTL", subject.account.name()};
  const Result<redis::Reply> life = co_await ask(subject.account.name(), pttl);
  if (!life) co_return std::unexpected(life.error());
  const Result<Micros> instant = co_await now(subject.account.name(), call);
  if (!instant) co_return std::unexpected(instant.error());

  findings.cost = subject.cost;
  findings.exists = !record->view().is_nil();
  const std::int64_t left = life->view().integer();
  if (findings.exists && left >= 0) findings.life = std::chrono::milliseconds(left);
  const FoundAccount found(record->view().text());
  for (const FoundSlot& slot : found.slots()) {
    if (!has_slot(subject.kinds, slot)) findings.foreign.push_back(describe_foreign(slot, *instant));
  }
  const Result<void> looked = co_await look_at(subject, found, call, findings);
  if (!looked) co_return std::unexpected(looked.error());
  describe_written(subject.kinds, found, *instant, subject.cost, findings);
  if (subject.cost > 0) describe_asked(subject, found, *instant, findings);
  co_return findings;
}

// Slot by slot: of a subject whose phase is not known, each has that of its writer.
io::Task<Result<void>> AccountInspector::look_at(Subject subject, const FoundAccount& found, limit::Call call,
                                                 AccountFindings& findings) {
  for (const RedisKind* kind : subject.kinds) {
    auto& slots = findings.kinds.emplace_back(kind->slots().size());
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const auto index = static_cast<std::uint16_t>(i);
      const RedisKind::KeptSlot& kept = kind->slot(i);
      const FoundSlot* slot = found.find(kept.id);
      slots[i].found = slot != nullptr;
      if (slot != nullptr) call.phase = subject.account.phase().value_or(written_phase(*slot));
      const auto writer = slot == nullptr ? std::nullopt : writer_of(*kind, index, *slot, call.phase);
      if (kept.book != nullptr && !writer) continue;  // it speaks for itself
      slots[i].variant = writer.value_or(0);
      slots[i].row_known = kept.book != nullptr;
      slots[i].other_numbers = slot != nullptr && !writer;
      if (slot == nullptr && !has_list(kept.variants.front().form)) {  // a list may be there without its slot
        slots[i].outcome = {.admitted = true,
                            .remaining = kept.variants.front().limit.capacity(),
                            .retry_after = 0,
                            .next_after = {}};
        continue;
      }
      const Charge charge{.slot = index, .variant = slots[i].variant, .cost = 0};
      const RedisStore::Account account{*kind, subject.account.name()};
      const Result<limit::Outcome> seen = co_await peek(account, charge, call);
      if (!seen) co_return std::unexpected(seen.error());
      slots[i].outcome = *seen;
    }
  }
  co_return Result<void>();
}

io::Task<Result<limit::Outcome>> AccountInspector::peek(RedisStore::Account account, Charge charge,
                                                        limit::Call call) {
  charge.cost = 0;
  limit::Outcome outcome;
  const std::span<const Charge> charges(&charge, 1);
  const std::span<limit::Outcome> outcomes(&outcome, 1);
  const Asked asked = co_await store_.acquire(account, charges, call, outcomes, store_.deadline());
  if (asked == Asked::kFailed) co_return std::unexpected(failure(Call::End::kTimedOut, budget_));
  co_return outcome;
}

io::Task<Result<std::vector<Foreseen>>> AccountInspector::foresee(RedisStore::Account account,
                                                                  std::span<const Charge> charges, limit::Call call) {
  const redis::Command get{"GET", account.name};
  const Result<redis::Reply> record = co_await ask(account.name, get);
  if (!record) co_return std::unexpected(record.error());
  const Result<Micros> instant = co_await now(account.name, call);
  if (!instant) co_return std::unexpected(instant.error());
  const FoundAccount found(record->view().text());
  std::vector<Foreseen> all;
  for (const Charge& charge : charges) {
    const RedisKind::KeptSlot& kept = account.kind.slot(charge.slot);
    const RedisKind::Variant& variant = account.kind.variant(charge);
    Counter counter{.slot = found.find(kept.id), .peek = {}};
    if (has_list(variant.form)) {
      const Result<limit::Outcome> seen = co_await peek(account, charge, call);
      if (!seen) co_return std::unexpected(seen.error());
      counter.peek = *seen;
    }
    const limit::Call at{.now = 0, .wall = *instant, .phase = call.phase};
    all.push_back(foresee_counter(kept, variant, counter, at, charge.cost));
  }
  co_return all;
}

io::Task<Result<Forgotten>> AccountInspector::forget(Subject subject) {
  const std::string& name = subject.account.name();
  const redis::Command get{"GET", name};
  const Result<redis::Reply> record = co_await ask(subject.account.name(), get);
  if (!record) co_return std::unexpected(record.error());
  const FoundAccount found(record->view().text());
  const std::vector<std::string> lists = lists_of(subject, found);
  redis::Command forget(2 + lists.size());
  forget.add("DEL").add(name);
  for (const std::string& list : lists) forget.add(name + list);
  const Result<redis::Reply> reply = co_await ask(subject.account.name(), forget);
  if (!reply) co_return std::unexpected(reply.error());
  Forgotten forgotten{.account = !record->view().is_nil()};
  forgotten.told = co_await store_.tell_reset(name, client_.loop().now() + budget_);
  const auto deleted = static_cast<std::size_t>(reply->view().integer());
  forgotten.lists = deleted - std::min<std::size_t>(deleted, forgotten.account ? 1 : 0);
  co_return forgotten;
}

}  // namespace weir::store
