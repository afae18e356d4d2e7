// SPDX-License-Identifier: Apache-2.0
#include "weir/store/redis/acquisition.h"

#include <algorithm>
#include <limits>
#include <variant>

#include "weir/store/redis/foresight.h"
#include "weir/store/redis/found_account.h"
#include "weir/store/redis/wire.h"

namespace weir::store {
namespace {

using limit::Cost;
using limit::Outcome;

constexpr limit::Cost kTooMuch = limit::kMaxUnits + 1;
constexpr char kTakes = 1;
constexpr char kReplaces = 2;
constexpr char kKeeps = 4;
}  // namespace

Acquisition::Acquisition(const RedisKind& kind, std::string_view name, std::span<const Charge> charges,
                         const limit::Call& call)
    : kind_(kind), name_(name), charges_(charges), call_(call), calendar_now_(call.wall) {
  for (const Charge& charge : charges) ask_for(charge);
  std::uint8_t keys = 1;
  for (Asked& asked : asked_) {
    if (has_list(asked.variant->form)) {
      asked.key = ++keys;
      alone_ = true;
    }
    if (asked.variant->head.empty()) append_head(asked.slot->id, asked.variant->limit, call.phase, asked.head);
  }
  write();
}

// Charges of a slot are one charge of their sum.
void Acquisition::ask_for(const Charge& charge) {
  const auto known = std::ranges::find(asked_, charge.slot, [](const Asked& one) { return one.charge.slot; });
  asked_of_.push_back(static_cast<std::uint16_t>(known - asked_.begin()));
  if (known != asked_.end()) {
    known->charge.cost = std::min(known->charge.cost + charge.cost, kTooMuch);
    return;
  }
  const RedisKind::KeptSlot& slot = kind_.slot(charge.slot);
  Asked& asked = asked_.emplace_back();
  asked.charge = charge;
  asked.slot = &slot;
  asked.variant = &kind_.variant(charge);
  life_ = std::max(life_, asked.variant->life);
}

void Acquisition::write() {
  text_.clear();
  plain_ = is_plain();
  if (plain_) write_plain();
  append_life(life_, text_);
  text_ += static_cast<char>(asked_.size());
  for (const Asked& asked : asked_) write_charge(asked);
}

// What the script has a short way for.
bool Acquisition::is_plain() const {
  return !asked_.empty() && asked_.size() <= 2 && std::ranges::all_of(asked_, [](const Asked& asked) {
    const bool simple = asked.variant->form == Form::kBucket && !asked.replaces;
    return simple && asked.charge.cost > 0 && bucket_numbers(asked.variant->limit).debt == 0;
  });
}

void Acquisition::write_plain() {
  std::string begin;
  append_life(life_, begin);
  for (const Asked& asked : asked_) {
    begin += HeadMark(asked.head_bytes().size(), sizeof(double)).byte();
    begin += asked.head_bytes();
  }
  append_sized(begin.append(1, '\0'), text_);
  for (const Asked& asked : asked_) {
    const limit::TokenBucket::Numbers numbers = bucket_numbers(asked.variant->limit);
    append_doubles(text_, refill_time(numbers, numbers.capacity).whole, increment(asked).whole);
  }
}

// More than fits never passes; its own time could be too large to be written.
Pair Acquisition::increment(const Asked& asked) {
  const limit::TokenBucket::Numbers numbers = bucket_numbers(asked.variant->limit);
  return refill_time(numbers, std::min(asked.charge.cost, numbers.capacity + 1));
}

void Acquisition::write_charge(const Asked& asked) {
  text_ += static_cast<char>(asked.variant->form);
  text_ += static_cast<char>((asked.charge.cost > 0 ? kTakes : 0) | (asked.replaces ? kReplaces : 0) |
                             (asked.keep ? kKeeps : 0));
  append_sized(asked.head_bytes(), text_);
  write_numbers(asked);
  if (!asked.replaces) return;
  append_sized(asked.found_head, text_);
  append_sized(asked.found_state, text_);
  append_sized(asked.means, text_);
}

void Acquisition::write_numbers(const Asked& asked) {
  const limit::Limit& limit = asked.variant->limit;
  const Cost cost = asked.charge.cost;
  const auto add = [this](auto... values) { append_doubles(text_, values...); };
  switch (asked.variant->form) {
    case Form::kBucket:
    case Form::kFractions: {
      const limit::TokenBucket::Numbers numbers = bucket_numbers(limit);
      const Pair full = refill_time(numbers, numbers.capacity);
      const Pair taken = increment(asked);
      if (asked.variant->form == Form::kBucket) return add(full.whole, taken.whole, most_owed(numbers));
      return add(numbers.count, full.whole, full.rest, taken.whole, taken.rest, most_owed(numbers));
    }
    case Form::kFixed: {
      const auto& numbers = std::get<limit::FixedWindow>(limit.algorithm()).numbers();
      return add(numbers.capacity, cost, numbers.alignment.window, shift_of(numbers.alignment, call_.phase));
    }
    case Form::kSliding: {
      const auto& numbers = std::get<limit::SlidingWindow>(limit.algorithm()).numbers();
      return add(numbers.capacity, cost, numbers.alignment.window, shift_of(numbers.alignment, call_.phase));
    }
    case Form::kCalendar:
      return write_calendar(std::get<limit::CalendarQuota>(limit.algorithm()), cost);
    case Form::kLog:
      add(limit.capacity(), cost, std::get<limit::SlidingLog>(limit.algorithm()).numbers().window);
      text_ += static_cast<char>(asked.key);
      return;
    case Form::kLeases:
      add(limit.capacity(), cost, std::get<limit::Concurrency>(limit.algorithm()).numbers().lease);
      text_ += static_cast<char>(asked.key);
      append_lease(call_.lease, text_);
  }
}

void Acquisition::write_calendar(const limit::CalendarQuota& quota, Cost cost) {
  const auto period = quota.calendar().period_of(calendar_now_ / kMicrosPerSecond);
  append_doubles(text_, quota.capacity(), cost, period.start * kMicrosPerSecond, period.end * kMicrosPerSecond);
}

redis::Command Acquisition::command(const Script& script, const Wanted& wanted, Micros now) const {
  const auto lists = std::ranges::count_if(asked_, [](const Asked& asked) { return asked.key != 0; });
  const auto keys = static_cast<std::size_t>(1 + lists);
  redis::Command command(5 + keys + (wanted.ahead > 0 ? 1 : 0));
  command.add(script.verb).add(script.body).add(std::to_string(keys)).add(name_);
  for (const Asked& asked : asked_) {
    if (asked.key != 0) command.add(std::string(name_) + asked.variant->list);
  }
  std::string argument;
  argument.reserve(13 + text_.size());
  argument += static_cast<char>(plain_ ? asked_.size() : 0);
  append_double(static_cast<double>(now), argument);
  append_u32(wanted.now, argument);
  command.add(argument.append(text_)).add(std::to_string(seconds_of(life_)));
  if (wanted.ahead > 0) {
    argument.clear();
    append_u32(wanted.ahead, argument);
    append_u32(wanted.parts, argument);
    command.add(argument);
  }
  return command;
}

limit::Call Acquisition::call_at(Micros now) const {
  return {.now = 0, .wall = now, .phase = call_.phase, .lease = call_.lease};
}

Acquisition::Told Acquisition::read(redis::ReplyView reply) {
  const auto answer = read_answer(reply.is_error() ? std::string_view() : reply.text());
  if (!answer) return Told::kBroken;
  now_ = answer->now;
  if (answer->granted == kOtherPeriod) {
    calendar_now_ = now_;
    write();
    return Told::kAgain;
  }
  if (answer->granted == kOtherNumbers) {
    if (!substitute(answer->account, now_)) return Told::kBroken;
    alone_ = true;
    write();
    return Told::kAgain;
  }
  granted_ = static_cast<std::uint32_t>(answer->granted);
  stepped_ = 0;
  const FoundAccount found(answer->account);
  std::string_view facts = answer->facts;
  for (Asked& asked : asked_) {
    if (asked.key != 0) {
      asked.facts = take_facts(asked.variant->form, facts);
    } else if (asked.replaces) {
      asked.words = read_state(asked.variant->limit, asked.means, now_);
    } else {
      const FoundSlot* slot = found.find(asked.slot->id);
      asked.words = read_state(asked.variant->limit, slot == nullptr ? std::string_view() : slot->state, now_);
    }
  }
  return Told::kDecided;
}

// What was written with other numbers, or before the clock jumped, as a state of the limits that are asked.
bool Acquisition::substitute(std::string_view account, Micros now) {
  const FoundAccount found(account);
  for (Asked& asked : asked_) {
    asked.replaces = asked.keep = false;
    asked.means.clear();
    const FoundSlot* slot = found.find(asked.slot->id);
    if (slot != nullptr) substitute(asked, *slot, now);
  }
  return !found.slots().empty();
}

void Acquisition::substitute(Asked& asked, const FoundSlot& slot, Micros now) {
  const limit::Limit& limit = asked.variant->limit;
  const limit::Call call = call_at(now);
  const bool same = slot.head == asked.head_bytes();
  StateWords fresh{};
  if (has_list(asked.variant->form)) {
    if (same) return;
    asked.means.assign(asked.variant->form == Form::kLeases ? 2 * sizeof(double) : 0, '\0');
  } else if (same) {
    const StateWords before = read_state(limit, slot.state, now);
    fresh = before;
    Outcome refused;
    limit.step(fresh, call, kTooMuch, refused);  // changes nothing but what a jump of the clock has spoilt
    if (fresh == before) return;
    asked.keep = true;
  } else if (const auto written = read_head(slot.head); written && same_algorithm(*written, limit)) {
    const Carried before = carried(*written, slot.state, limit, call);
    fresh = before.words;
    asked.keep = before.used <= limit.capacity();
  }
  asked.replaces = true;
  asked.found_head = slot.head;
  asked.found_state = slot.state;
  if (!has_list(asked.variant->form)) append_state(limit, fresh, now, asked.means);
}

Micros Acquisition::rest_of_windows() const {
  Micros rest = std::numeric_limits<Micros>::max() / 1000;
  for (const Asked& asked : asked_) {
    const auto rest_of = [&](const limit::Alignment& alignment) {
      return alignment.window - (now_ + shift_of(alignment, call_.phase)) % alignment.window;
    };
    const limit::Limit& limit = asked.variant->limit;
    if (const auto* fixed = std::get_if<limit::FixedWindow>(&limit.algorithm())) {
      rest = std::min(rest, rest_of(fixed->numbers().alignment));
    } else if (const auto* sliding = std::get_if<limit::SlidingWindow>(&limit.algorithm())) {
      rest = std::min(rest, rest_of(sliding->numbers().alignment));
    } else if (const auto* quota = std::get_if<limit::CalendarQuota>(&limit.algorithm())) {
      rest = std::min(rest, quota->calendar().period_of(now_ / kMicrosPerSecond).end * kMicrosPerSecond - now_);
    }
  }
  return rest;
}

// What one limit says, as if it were alone.
void Acquisition::decide(const Asked& asked, StateWords& words, Micros now, Outcome& outcome) const {
  if (asked.key != 0) {
    describe(asked.variant->limit, asked.facts, now, asked.charge.cost, true, outcome);
    return;
  }
  asked.variant->limit.step(words, call_at(now), asked.charge.cost, outcome);
}

bool Acquisition::step(std::span<Outcome> outcomes, Micros later) {
  told_.resize(asked_.size());
  const bool admitted = stepped_++ < granted_;
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    Asked& asked = asked_[i];
    Outcome& told = told_[i];
    StateWords words = asked.words;
    decide(asked, words, now_ + later, told);
    if (admitted) {
      asked.words = words;
    } else if (told.admitted && asked.charge.cost > 0) {  // shows its unchanged state
      if (asked.key != 0) {
        describe(asked.variant->limit, asked.facts, now_, asked.charge.cost, false, told);
      } else {
        told = asked.variant->limit.peek(asked.words, call_at(now_));
      }
    }
    if (asked.variant->form <= Form::kFractions) told.at = now_;
  }
  for (std::size_t i = 0; i < charges_.size(); ++i) {
    const std::size_t at = asked_of_[i];
    outcomes[i] = in_ticks(told_[at], asked_[at].variant->ticks);
  }
  return admitted;
}

}  // namespace weir::store
