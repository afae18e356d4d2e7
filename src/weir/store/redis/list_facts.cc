// SPDX-License-Identifier: Apache-2.0
#include "weir/store/redis/list_facts.h"

#include <algorithm>
#include <variant>

namespace weir::store {
namespace {

using limit::Cost;
using limit::Outcome;

void describe_log(const limit::SlidingLog& log, const ListFacts& facts, Micros now, Cost cost, bool granted,
                  Outcome& outcome) {
  const Cost capacity = log.capacity();
  const Micros charged_end = facts.entered + log.numbers().window - now;
  const bool taken = granted && outcome.admitted && cost > 0;
  outcome.at = facts.entered;
  if (outcome.admitted) {
    outcome.retry_after = 0;
  } else if (cost <= capacity) {
    outcome.retry_after = facts.blocked_until - now;
  }
  outcome.reset_after = taken ? charged_end : facts.used > 0 ? facts.last + log.numbers().window - now : 0;
  outcome.remaining = std::max<Cost>(0, capacity - facts.used - (taken ? cost : 0));
  if (outcome.remaining < capacity) outcome.next_after = facts.used > 0 ? facts.first_end - now : charged_end;
}

void describe_leases(const limit::Concurrency& leases, const ListFacts& facts, Micros now, Cost cost, bool granted,
                     Outcome& outcome) {
  const Cost capacity = leases.capacity();
  const bool taken = granted && outcome.admitted && cost > 0 && !facts.known;
  outcome.at = now;
  if (outcome.admitted) {
    outcome.retry_after = 0;
  } else if (cost <= capacity) {
    outcome.retry_after = kMicrosPerSecond;
  }
  const Micros last = taken ? std::max(facts.last, now + leases.numbers().lease) : facts.last;
  outcome.remaining = std::max<Cost>(0, capacity - facts.used - (taken ? cost : 0));
  outcome.reset_after = std::max<Micros>(0, last - now);
}

}  // namespace

ListFacts take_facts(Form form, std::string_view& packed) {
  const auto next = [&] {
    const double value = read_double(packed, 0);
    packed.remove_prefix(std::min(packed.size(), sizeof value));
    return static_cast<std::int64_t>(value);
  };
  ListFacts facts;
  facts.used = next();
  facts.last = next();
  if (form == Form::kLeases) {
    facts.known = next() != 0;
    return facts;
  }
  facts.entered = next();
  facts.first_end = next();
  facts.blocked_until = next();
  return facts;
}

void describe(const limit::Limit& limit, const ListFacts& facts, Micros now, Cost cost, bool granted,
              Outcome& outcome) {
  outcome = Outcome{};
  outcome.admitted = facts.known || cost <= limit.capacity() - facts.used;
  if (const auto* log = std::get_if<limit::SlidingLog>(&limit.algorithm())) {
    describe_log(*log, facts, now, cost, granted, outcome);
  } else {
    describe_leases(std::get<limit::Concurrency>(limit.algorithm()), facts, now, cost, granted, outcome);
  }
}

}  // namespace weir::store
