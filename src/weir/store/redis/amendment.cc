// SPDX-License-Identifier: Apache-2.0
#include "weir/store/redis/amendment.h"

#include <algorithm>
#include <deque>
#include <variant>

#include "weir/store/redis/found_account.h"
#include "weir/store/redis/wire.h"

namespace weir::store {
namespace {

using limit::Cost;
using limit::Outcome;

const limit::WindowNumbers& window_numbers(const limit::Limit& limit) {
  if (const auto* fixed = std::get_if<limit::FixedWindow>(&limit.algorithm())) return fixed->numbers();
  return std::get<limit::SlidingWindow>(limit.algorithm()).numbers();
}

}  // namespace

Amendment::Amendment(const RedisKind& kind, std::string_view name, std::span<const Adjustment> adjustments,
                     const limit::Call& call)
    : kind_(kind), name_(name), call_(call), calendar_now_(call.wall) {
  for (const Adjustment& one : adjustments) ask_for(one, one.by < 0 ? Leases::kEnd : Leases::kLook);
}

Amendment::Amendment(const RedisKind& kind, std::string_view name, std::span<const Charge> charges,
                     const limit::Call& call)
    : kind_(kind), name_(name), call_(call), calendar_now_(call.wall) {
  for (const Charge& one : charges) {
    if (kind.variant(one).form == Form::kLeases) ask_for({one.slot, one.variant, -one.cost, 0}, Leases::kRenew);
  }
}

void Amendment::ask_for(const Adjustment& adjustment, Leases leases) {
  const RedisKind::KeptSlot& slot = kind_.slot(adjustment.slot);
  Asked& asked = asked_.emplace_back();
  asked.adjustment = adjustment;
  asked.slot = &slot;
  asked.variant = &kind_.variant(adjustment.slot, adjustment.variant);
  asked.leases = leases;
  if (asked.variant->head.empty()) append_head(slot.id, asked.variant->limit, call_.phase, asked.head);
  life_ = std::max(life_, asked.variant->life);
}

// The most that may be used while no request is refused.
Cost Amendment::Asked::ample(Cost capacity) const {
  return capacity - std::min(std::max<Cost>(slot->largest_cost, 1), capacity);
}

redis::Command Amendment::command(const Acquisition::Script& script, Micros now, std::string_view channel) const {
  std::vector<std::string> lists;
  for (const Asked& asked : asked_) {
    if (has_list(asked.variant->form) && !asked.done) lists.push_back(std::string(name_) + asked.variant->list);
  }
  const bool once = !mark_.empty();
  if (once) lists.push_back(mark());
  redis::Command command(6 + lists.size() + (once ? 1 : 0));
  command.add(script.verb).add(script.body).add(std::to_string(1 + lists.size())).add(name_);
  for (const std::string& list : lists) command.add(list);
  std::string argument;
  append_double(static_cast<double>(now), argument);
  command.add(argument.append(arguments())).add(channel);
  if (once) command.add(std::to_string(until_));
  return command;
}

std::string Amendment::arguments() const {
  std::string out;
  append_life(life_, out);
  out += static_cast<char>(std::ranges::count(asked_, false, &Asked::done));
  char key = 1;
  for (const Asked& asked : asked_) {
    if (asked.done) continue;
    out += static_cast<char>(asked.variant->form);
    append_sized(asked.head_bytes(), out);
    write_numbers(asked, out);
    if (!has_list(asked.variant->form)) continue;
    out += ++key;
    if (asked.variant->form == Form::kLeases) append_lease(call_.lease, out);
  }
  return out;
}

void Amendment::write_bucket(const Asked& asked, std::string& out) const {
  const limit::Limit& limit = asked.variant->limit;
  const limit::TokenBucket::Numbers numbers = bucket_numbers(limit);
  const Cost by = asked.adjustment.by;
  const bool line = limit.holds<limit::LeakyBucket>();
  const int sign = by < 0 ? -1 : by > 0 && !line ? 1 : 0;
  const Pair amount = refill_time(numbers, std::min(by < 0 ? -by : by, numbers.capacity + numbers.debt));
  const Pair lowest = refill_time(numbers, numbers.capacity + numbers.debt);
  const Pair ample = refill_time(numbers, asked.ample(numbers.capacity));
  append_doubles(out, sign, amount.whole, amount.rest, numbers.count, lowest.whole, lowest.rest, most_owed(numbers),
                 line && by < 0 ? asked.at() : 0, ample.whole, ample.rest);
}

void Amendment::write_numbers(const Asked& asked, std::string& out) const {
  const limit::Limit& limit = asked.variant->limit;
  const Adjustment& one = asked.adjustment;
  switch (asked.variant->form) {
    case Form::kBucket:
    case Form::kFractions:
      return write_bucket(asked, out);
    case Form::kFixed:
    case Form::kSliding: {
      const auto& numbers = window_numbers(limit);
      return append_doubles(out, one.by, asked.at(), numbers.alignment.window,
                            shift_of(numbers.alignment, call_.phase), numbers.capacity + numbers.debt,
                            asked.ample(numbers.capacity));
    }
    case Form::kCalendar: {
      const auto& quota = std::get<limit::CalendarQuota>(limit.algorithm());
      const auto period = quota.calendar().period_of(calendar_now_ / kMicrosPerSecond);
      return append_doubles(out, one.by, asked.at(), quota.capacity() + quota.numbers().debt,
                            period.start * kMicrosPerSecond, period.end * kMicrosPerSecond,
                            asked.ample(quota.capacity()));
    }
    case Form::kLog: {
      const auto& numbers = std::get<limit::SlidingLog>(limit.algorithm()).numbers();
      return append_doubles(out, one.by, asked.at(), numbers.window, numbers.capacity + numbers.debt,
                            numbers.capacity, asked.ample(numbers.capacity));
    }
    case Form::kLeases: {
      const auto lease = std::get<limit::Concurrency>(limit.algorithm()).numbers().lease;
      return append_doubles(out, static_cast<int>(asked.leases), one.by < 0 ? -one.by : one.by, lease, lease);
    }
  }
}

Amendment::Told Amendment::read(redis::ReplyView reply) {
  const auto answer = read_answer(reply.is_error() ? std::string_view() : reply.text());
  if (!answer) return Told::kBroken;
  now_ = answer->now;
  account_ = answer->account;
  was_made_ = answer->granted == 0;
  if (answer->granted == kTooLate) return Told::kDone;
  if (answer->granted == kOtherPeriod) {
    calendar_now_ = now_;
    return Told::kAgain;
  }
  if (answer->granted == kOtherNumbers) {
    if (amend(account_)) return Told::kReplace;
    return mark_.empty() ? Told::kAgain : Told::kDone;
  }
  std::string_view facts = answer->facts;
  for (Asked& asked : asked_) {
    if (!has_list(asked.variant->form) || asked.done) continue;
    asked.facts = take_facts(asked.variant->form, facts);
    if (asked.leases == Leases::kRenew) all_alive_ &= asked.facts.known;
  }
  return Told::kDone;
}

// The account with what is to be amended and what a script cannot read. False: there is nothing to be written.
bool Amendment::amend(std::string_view account) {
  const FoundAccount found(account);
  std::vector<FoundSlot> slots = found.slots();
  std::deque<std::string> states;  // that slots look at
  for (Asked& asked : asked_) {
    const auto there =
        std::ranges::find_if(slots, [&](const auto& slot) { return names(slot.head, asked.slot->id); });
    if (has_list(asked.variant->form)) {  // another algorithm's by now: nothing of ours is in there
      asked.done = there != slots.end() && there->head != asked.head_bytes();
      continue;
    }
    asked.done = true;
    FoundSlot slot = there == slots.end() ? FoundSlot{} : *there;
    if (!amend(asked, slot, states.emplace_back())) continue;
    there == slots.end() ? slots.push_back(slot) : void(*there = slot);
  }
  replacement_ = write_account(std::max(found.life(), life_), slots);
  return replacement_ != account;
}

// Amends a slot, whose state goes to `state`. False: there is nothing to be amended.
bool Amendment::amend(const Asked& asked, FoundSlot& slot, std::string& state) const {
  const Adjustment& one = asked.adjustment;
  if (slot.head.empty() && one.by <= 0) return false;
  const bool ours = slot.head.empty() || slot.head == asked.head_bytes();
  const auto written = ours ? std::optional(asked.variant->limit) : read_head(slot.head);
  if (!written || !same_algorithm(*written, asked.variant->limit)) return false;
  StateWords words = read_state(*written, slot.state, now_);
  if (one.by < 0 && !written->holds<limit::LeakyBucket>()) written->give_back(words, call(), -one.by, asked.at());
  if (one.by > 0) written->take(words, call(), one.by, asked.at());
  append_state(*written, words, now_, state);
  if (slot.head.empty()) slot.head = asked.head_bytes();
  slot.state = state;
  return true;
}

// By which numbers others were refused is not known: they are told whatever room there was.
redis::Command Amendment::replacement(const Acquisition::Script& script, Micros now, std::string_view channel) const {
  const bool gives = std::ranges::any_of(asked_, [](const Asked& one) { return one.done && one.adjustment.by < 0; });
  const bool once = !mark_.empty();
  redis::Command command(once ? 11 : 8);
  command.add(script.verb).add(script.body).add(once ? "2" : "1").add(name_);
  if (once) command.add(mark());
  command.add(account_).add(replacement_).add(std::to_string(seconds_of(FoundAccount(replacement_).life())));
  command.add(gives ? channel : std::string_view());
  if (once) command.add(std::to_string(until_)).add(std::to_string(now));
  return command;
}

Amendment::Told Amendment::replaced(std::int64_t reply) {
  constexpr std::int64_t kSomebodyWasFirst = 0;
  constexpr std::int64_t kWritten = 1;
  if (reply == kSomebodyWasFirst) {
    for (Asked& asked : asked_) asked.done = false;
    return Told::kAgain;
  }
  was_made_ = reply == kWritten;
  return mark_.empty() ? Told::kAgain : Told::kDone;
}

Outcome Amendment::look(const Asked& asked) const {
  const limit::Limit& limit = asked.variant->limit;
  Outcome outcome;
  if (has_list(asked.variant->form) && !asked.done) {
    describe(limit, asked.facts, now_, 0, false, outcome);
    return outcome;
  }
  const FoundAccount found(account_);
  const FoundSlot* slot = found.find(asked.slot->id);
  if (slot == nullptr) return limit.peek(StateWords{}, call());
  if (slot->head == asked.head_bytes()) return limit.peek(read_state(limit, slot->state, now_), call());
  const auto written = read_head(slot->head);
  if (!written) return limit.peek(StateWords{}, call());
  return written->peek(read_state(*written, slot->state, now_), call());
}

void Amendment::tell(std::span<Outcome> outcomes) const {
  for (std::size_t i = 0; i < std::min(outcomes.size(), asked_.size()); ++i) {
    Outcome outcome = look(asked_[i]);
    if (asked_[i].variant->form <= Form::kFractions) outcome.at = now_;
    outcomes[i] = in_ticks(outcome, asked_[i].variant->ticks);
  }
}

}  // namespace weir::store
