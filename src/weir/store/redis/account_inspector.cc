// SPDX-License-Identifier: Apache-2.0
#include "weir/store/redis/account_inspector.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

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

// The variant by whose numbers it was written; absent: none.
std::optional<std::size_t> writer_of(const RedisKind::KeptSlot& kept, const FoundSlot& slot, std::uint64_t phase) {
  for (std::size_t i = 0; i < kept.variants.size(); ++i) {
    std::string head = kept.variants[i].head;
    if (head.empty()) append_head(kept.id, kept.variants[i].limit, phase, head);
    if (slot.head == head) return i;
  }
  return std::nullopt;
}

bool has_slot(std::span<const RedisKind* const> kinds, const FoundSlot& slot) {
  return std::ranges::any_of(kinds, [&](const RedisKind* kind) {
    return std::ranges::any_of(kind->slots(), [&](const auto& kept) { return names(slot.head, kept.id); });
  });
}

ForeignSlot describe_foreign(const FoundSlot& slot, Micros now) {
  ForeignSlot foreign{.id = id_of(slot), .limit = read_head(slot.head), .outcome = {}};
  if (!foreign.limit || foreign.limit->keeps_entries()) return foreign;
  const StateWords words = read_state(*foreign.limit, slot.state, now);
  foreign.outcome = foreign.limit->peek(words, {.now = 0, .wall = now});
  return foreign;
}

void describe_written(std::span<const RedisKind* const> kinds, const FoundAccount& found, Micros now,
                      AccountFindings& findings) {
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    for (std::size_t i = 0; i < findings.kinds[kind].size(); ++i) {
      const RedisKind::KeptSlot& kept = kinds[kind]->slot(i);
      const FoundSlot* slot = found.find(kept.id);
      if (kept.book != nullptr && slot != nullptr) findings.kinds[kind][i].written = describe_foreign(*slot, now);
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

io::Task<Result<redis::Reply>> AccountInspector::ask(const AccountText& account, const redis::Command& command) {
  const Instant until = client_.loop().now() + budget_;
  redis::Answer answer = co_await client_.ask(account.name(), command, until);
  if (!answer.answered()) co_return std::unexpected(failure(answer.end, budget_));
  const redis::ReplyView view = answer.reply.view();
  if (view.is_error()) {
    co_return std::unexpected(
        Error{ErrorKind::kUnavailable, Origin::kStore, fmt::format("it answers: {}", view.text())});
  }
  co_return std::move(answer.reply);
}

io::Task<Result<Micros>> AccountInspector::now(const AccountText& account, limit::Call call) {
  if (clock_ == RedisStore::Clock::kCall) co_return call.wall / 1000;
  const redis::Command command{"TIME"};
  const Result<redis::Reply> reply = co_await ask(account, command);
  if (!reply) co_return std::unexpected(reply.error());
  co_return redis::time_of(reply->view()).value_or(0);
}

io::Task<Result<AccountFindings>> AccountInspector::inspect(Subject subject, limit::Call call) {
  AccountFindings findings;
  const redis::Command get{"GET", subject.account.name()};
  const Result<redis::Reply> record = co_await ask(subject.account, get);
  if (!record) co_return std::unexpected(record.error());
  const redis::Command pttl{"PTTL", subject.account.name()};
  const Result<redis::Reply> life = co_await ask(subject.account, pttl);
  if (!life) co_return std::unexpected(life.error());
  const Result<Micros> instant = co_await now(subject.account, call);
  if (!instant) co_return std::unexpected(instant.error());

  findings.exists = !record->view().is_nil();
  const std::int64_t left = life->view().integer();
  if (findings.exists && left >= 0) findings.life = std::chrono::milliseconds(left);
  const FoundAccount found(record->view().text());
  for (const FoundSlot& slot : found.slots()) {
    if (!has_slot(subject.kinds, slot)) findings.foreign.push_back(describe_foreign(slot, *instant));
  }
  const Result<void> looked = co_await look_at(subject, found, call, findings);
  if (!looked) co_return std::unexpected(looked.error());
  describe_written(subject.kinds, found, *instant, findings);
  co_return findings;
}

// Slot by slot: of a subject whose phase is not known, each has that of its writer.
io::Task<Result<void>> AccountInspector::look_at(Subject subject, const FoundAccount& found, limit::Call call,
                                                 AccountFindings& findings) {
  for (const RedisKind* kind : subject.kinds) {
    auto& slots = findings.kinds.emplace_back(kind->slots().size());
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const RedisKind::KeptSlot& kept = kind->slot(i);
      const FoundSlot* slot = found.find(kept.id);
      slots[i].found = slot != nullptr;
      if (kept.book != nullptr) continue;  // it speaks for itself
      if (slot != nullptr) {
        call.phase = subject.account.phase().value_or(written_phase(*slot));
        const auto writer = writer_of(kept, *slot, call.phase);
        slots[i].other_numbers = !writer;
        slots[i].variant = static_cast<std::uint32_t>(writer.value_or(0));
      } else if (!has_list(kept.variants.front().form)) {  // a list may be there without its slot
        slots[i].outcome = {.admitted = true,
                            .remaining = kept.variants.front().limit.capacity(),
                            .retry_after = 0,
                            .next_after = {}};
        continue;
      }
      const std::array<Charge, 1> charges{
          Charge{.slot = static_cast<std::uint16_t>(i), .variant = slots[i].variant, .cost = 0}};
      const RedisStore::Account account{*kind, subject.account.name()};
      const std::span<limit::Outcome> outcomes(&slots[i].outcome, 1);
      const Asked asked = co_await store_.acquire(account, charges, call, outcomes, store_.deadline());
      if (asked == Asked::kFailed) co_return std::unexpected(failure(Call::End::kTimedOut, budget_));
    }
  }
  co_return Result<void>();
}

io::Task<Result<Forgotten>> AccountInspector::forget(Subject subject) {
  const std::string& name = subject.account.name();
  const redis::Command get{"GET", name};
  const Result<redis::Reply> record = co_await ask(subject.account, get);
  if (!record) co_return std::unexpected(record.error());
  const FoundAccount found(record->view().text());
  const std::vector<std::string> lists = lists_of(subject, found);
  redis::Command forget(2 + lists.size());
  forget.add("DEL").add(name);
  for (const std::string& list : lists) forget.add(name + list);
  const Result<redis::Reply> reply = co_await ask(subject.account, forget);
  if (!reply) co_return std::unexpected(reply.error());
  const bool told = co_await store_.tell_reset(name, client_.loop().now() + budget_);
  if (!told) co_return std::unexpected(failure(Call::End::kTimedOut, budget_));
  Forgotten forgotten{.account = !record->view().is_nil()};
  const auto deleted = static_cast<std::size_t>(reply->view().integer());
  forgotten.lists = deleted - std::min<std::size_t>(deleted, forgotten.account ? 1 : 0);
  co_return forgotten;
}

}  // namespace weir::store
