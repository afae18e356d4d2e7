// SPDX-License-Identifier: Apache-2.0
//
// What remains to be done about an admitted request: Decider's second half.
#include <algorithm>
#include <array>
#include <variant>

#include "weir/decide/decider.h"
#include "weir/decide/order.h"

namespace weir::decide {
namespace {

limit::Call call_for(limit::Call call, const Held& held, const limit::LeaseId& lease) {
  call.phase = held.phase;
  call.lease = lease;
  return call;
}

bool has_lease(const Held& held) { return held.rule().holds<limit::Concurrency>(); }

// Null where the limit that counts now has no line.
const limit::LeakyBucket* line_of(const store::MemoryStore::Look& look) {
  return look.limit == nullptr ? nullptr : std::get_if<limit::LeakyBucket>(&look.limit->algorithm());
}

// `after`: what the limit says now.
void show(const limit::Outcome& after, policy::LimitIndex limit, limit::Ticks wall, Decision& decision) {
  const limit::Ticks elapsed = std::max<limit::Ticks>(0, wall - decision.wall);
  for (LimitOutcome& shown : decision.outcomes) {
    if (shown.limit != limit) continue;
    shown.outcome.remaining = after.remaining;
    shown.outcome.reset_after = after.reset_after > 0 ? after.reset_after + elapsed : 0;
    shown.outcome.next_after = after.next_after;
    if (after.next_after) *shown.outcome.next_after += elapsed;
  }
}

// What the limit will say once the charge has been changed by so much, if nobody else takes or gives meanwhile.
void expect(const limit::Limit& limit, limit::Cost by, limit::Outcome& outcome) {
  outcome.remaining = std::clamp<limit::Cost>(outcome.remaining - by, 0, limit.capacity());
  if (const auto* bucket = std::get_if<limit::TokenBucket>(&limit.algorithm())) {
    const auto time = static_cast<__int128>(by) * bucket->numbers().period / bucket->numbers().count;
    outcome.reset_after = std::max<limit::Ticks>(0, outcome.reset_after + static_cast<limit::Ticks>(time));
  }
  if (outcome.remaining < limit.capacity()) return;
  outcome.reset_after = 0;
  outcome.next_after.reset();
}

}  // namespace

void Decider::start(Decision& decision, const limit::Call& call) const {
  for (Held& held : decision.held) {
    if (!held.place) continue;
    held.place.reset();
    std::array<limit::Outcome, 1> after;
    change(held, 0, call, after);
    show(after[0], held.limit, call.wall, decision);
  }
  order_outcomes(decision.outcomes);
}

void Decider::change(const Held& held, limit::Cost by, const limit::Call& call,
                     std::span<limit::Outcome> after) const {
  if (held.shared)
    return void(amend(held.shared, held.name, {{held.charge.slot, held.charge.variant, by, held.at}}, call));
  const std::array adjustments{store::Adjustment{held.charge.slot, held.charge.variant, by, held.at}};
  store_.adjust(held.kind, held.subject, adjustments, call, after);
}

// Gives a place in a line back, and its line moves up. A place whose time has passed is nobody's any more.
void Decider::leave(const Held& held, const limit::Call& call) const {
  if (!held.rule().holds<limit::LeakyBucket>() || held.charge.cost == 0) return;
  if (held.shared) {  // other gateways have places, too: only the last one is given back
    if (held.starts_at <= call.now) return;
    amend(held.shared, held.name, {{held.charge.slot, held.charge.variant, -held.charge.cost, held.empty_at}}, call);
    return;
  }
  const Lines::Lock lock = lines_.lock(held.subject);
  const limit::Ticks start = held.place ? held.place->starts_at() : held.starts_at;
  if (held.place && start <= call.now) return;
  const auto* line = line_of(store_.look(held.kind, held.subject, held.charge.slot, call));
  if (line == nullptr) return;
  change(held, -held.charge.cost, call);
  lines_.move_up({held.subject, store_.counter_of(held.kind, held.charge.slot)}, start, line->interval());
}

void Decider::leave(Decision& decision, const limit::Call& call) const {
  for (const Held& held : decision.held) leave(held, call);
  for (Held& held : decision.held) held.place.reset();
}

// The state says when the line will be empty; from there the places are counted back. Where there is no line any
// more, nobody waits.
void Decider::reschedule(const limit::Call& call) const {
  lines_.reschedule([&](const Fingerprint& subject, const Lines::Counter& counter, std::size_t waiting) {
    const auto look = store_.look(counter.kind, subject, counter.slot, call);
    const auto* line = line_of(look);
    if (line == nullptr) return Lines::Schedule{call.now, 0};
    const auto places = static_cast<limit::Ticks>(waiting) + line->numbers().undelayed;
    const limit::Ticks first = call.now + look.outcome.reset_after - places * line->interval();
    return Lines::Schedule{std::max(first, call.now), line->interval()};
  });
}

bool Decider::settle(Decision& decision, const Answer& answer, const limit::Call& call) const {
  if (decision.settled || call.now - decision.decided_at > kSettleWithin) return false;
  decision.settled = true;
  bool changed = false;
  for (Held& held : decision.held) {
    const policy::Settlement& settlement = held.info->settlement;
    if (!settlement.needed()) continue;
    const auto told = settlement.field.empty() || !answer.field ? std::nullopt : answer.field(settlement.field);
    const limit::Cost cost = settlement.cost(held.charge.cost, answer.status, told);
    if (cost == held.taken) continue;
    std::array<limit::Outcome, 1> after;
    const limit::Cost by = cost - held.taken;
    change(held, by, call_for(call, held, decision.lease), after);
    held.taken = cost;
    if (held.shadow) continue;
    if (held.shared) {
      for (LimitOutcome& shown : decision.outcomes) {
        if (shown.limit == held.limit) expect(held.rule(), by, shown.outcome);
      }
    } else {
      show(after[0], held.limit, call.wall, decision);
    }
    changed = true;
  }
  if (changed) order_outcomes(decision.outcomes);
  return true;
}

bool Decider::renew(const Decision& decision, const limit::Call& call) const {
  bool alive = true;
  for (const Held& held : decision.held) {
    if (!has_lease(held)) continue;
    if (held.shared) {
      renew_shared(held.shared, held.name, held.charge, call_for(call, held, decision.lease));
      continue;
    }
    alive &= store_.renew(held.kind, held.subject, {&held.charge, 1}, call_for(call, held, decision.lease));
  }
  return alive;
}

void Decider::finish(Decision& decision, const limit::Call& call) const {
  for (const Held& held : decision.held) {
    if (has_lease(held)) change(held, -held.charge.cost, call_for(call, held, decision.lease));
  }
  decision.held.clear();
  decision.renewal = 0;
}

}  // namespace weir::decide
