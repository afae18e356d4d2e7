// SPDX-License-Identifier: Apache-2.0
#include "weir/limit/sliding_log.h"

#include <algorithm>

namespace weir::limit {

Result<SlidingLog> SlidingLog::create(const Numbers& numbers) {
  const auto& [capacity, window, second, debt] = numbers;
  if (const char* fault = common_fault(capacity, debt, second)) return invalid(fault);
  if (capacity > kMaxCapacity) return invalid("a log of requests must not hold more than 10000 units");
  if (!is_period(window, second)) return invalid("a window must last 1 ms to 400 days");
  return SlidingLog(numbers);
}

// The log as it is to be read at `now`: entries that count are `first` and later.
class SlidingLog::View {
 public:
  View(const SlidingLog& limit, const Log& log, Ticks now) : log_(log), window_(limit.numbers_.window) {
    at_ = now;
    if (log.empty()) return;
    const Ticks newest = log.back().at;
    const Ticks most = kClockStepSeconds * limit.numbers_.ticks_per_second;
    if (newest > now + most) shift_ = newest - now;
    at_ = std::max(now, newest - shift_);
    first_ = bisect([&](const Entry& entry) { return entry.at - shift_ > at_ - window_; });
  }

  Ticks at() const { return at_; }  // where a charge is entered
  std::uint32_t first() const { return first_; }
  bool empty() const { return first_ == log_.size(); }
  Cost used() const { return empty() ? 0 : log_.back().total - before(); }
  Cost before() const { return total_before(log_, first_); }
  Ticks newest() const { return log_.back().at - shift_; }
  // When so many of the units that count have ended. Requires: 1 <= units <= used().
  Ticks end_of(Cost units) const {
    const Cost total = before() + units;
    return log_[bisect([&](const Entry& entry) { return entry.total >= total; })].at - shift_ + window_;
  }
  bool jumped() const { return shift_ != 0; }
  // Whether a charge of this instant counts.
  bool counts(Ticks at) const { return at <= at_ && at > at_ - window_; }
  // The first entry that is not before this instant, or size().
  std::uint32_t place_of(Ticks at) const {
    return bisect([&](const Entry& entry) { return entry.at - shift_ >= at; });
  }
  // The entry of this instant, or size().
  std::uint32_t find(Ticks at) const {
    const std::uint32_t found = place_of(at);
    const bool is_it = found < log_.size() && counts(at) && log_[found].at - shift_ == at;
    return is_it ? found : log_.size();
  }

 private:
  // The first entry for which `holds`, which is false up to some entry and true from then on.
  template <class Holds>
  std::uint32_t bisect(Holds holds) const {
    std::uint32_t low = 0;
    for (std::uint32_t high = log_.size(); low < high;) {
      const std::uint32_t middle = low + (high - low) / 2;
      holds(log_[middle]) ? void(high = middle) : void(low = middle + 1);
    }
    return low;
  }

  const Log& log_;
  Ticks window_;
  Ticks shift_ = 0;  // of a clock that jumped
  Ticks at_;
  std::uint32_t first_ = 0;
};

void SlidingLog::decide(std::span<std::int64_t> state, const Call& call, Cost cost, Outcome& outcome) const {
  Log log(state[0]);
  const Ticks now = call.now;
  if (cost > 0) repair(log, now);
  const View view(*this, log, now);
  const Cost capacity = numbers_.capacity;
  Cost used = view.used();
  outcome.admitted = cost <= capacity - used;
  outcome.delay = 0;
  outcome.at = view.at();
  outcome.retry_after.reset();
  if (outcome.admitted) {
    outcome.retry_after = 0;
  } else if (cost <= capacity) {
    outcome.retry_after = view.end_of(used + cost - capacity) - now;
  }
  const bool taken = outcome.admitted && cost > 0;
  const Ticks charged_end = view.at() + numbers_.window - now;
  outcome.reset_after = taken ? charged_end : view.empty() ? 0 : view.newest() + numbers_.window - now;
  if (taken) used += cost;
  outcome.remaining = std::max<Cost>(0, capacity - used);
  outcome.next_after.reset();
  if (outcome.remaining >= capacity) return;
  // The oldest units, of which the charge itself may be all.
  const Cost needed = used + outcome.remaining + 1 - capacity;
  const bool by_others = needed <= view.used();
  outcome.next_after = by_others ? view.end_of(needed) - now : charged_end;
}

void SlidingLog::commit(std::span<std::int64_t> state, const Call& call, Cost cost) const {
  Log log(state[0]);
  const View view(*this, log, call.now);
  const Ticks at = view.at();
  const Cost before = view.before();
  log.drop_front(view.first());
  if (log.empty()) {
    log.push_back({at, cost}, static_cast<std::uint32_t>(numbers_.capacity));
    return log.set_note({0});
  }
  log.set_note({before});
  if (log.back().at == at) {
    log.back().total += cost;
  } else {
    log.push_back({at, log.back().total + cost}, static_cast<std::uint32_t>(numbers_.capacity));
  }
}

// All entries move with a clock that went back far.
void SlidingLog::repair(Log& log, Ticks now) const {
  if (log.empty() || log.back().at - now <= kClockStepSeconds * numbers_.ticks_per_second) return;
  const Ticks shift = log.back().at - now;
  for (std::uint32_t i = 0; i < log.size(); ++i) log[i].at -= shift;
}

// The entry's cost becomes larger by so much, or smaller; an entry of nothing goes.
void SlidingLog::change(Log& log, std::uint32_t at, Cost by) {
  for (std::uint32_t i = at; i < log.size(); ++i) log[i].total += by;
  if (log[at].total == total_before(log, at)) log.erase(at);
}

void SlidingLog::give_back(std::span<std::int64_t> state, Ticks now, Cost cost, Ticks at) const {
  Log log(state[0]);
  const View view(*this, log, now);
  const std::uint32_t found = view.find(at);
  if (found == log.size()) return;
  const Cost entered = log[found].total - total_before(log, found);
  change(log, found, -std::min(cost, entered));
}

void SlidingLog::take(std::span<std::int64_t> state, Ticks now, Cost cost, Ticks at) const {
  Log log(state[0]);
  const View view(*this, log, now);
  const Cost taken = std::clamp<Cost>(numbers_.capacity + numbers_.debt - view.used(), 0, cost);
  if (taken == 0 || !view.counts(at)) return;
  if (view.find(at) == log.size()) {  // nothing was charged at first
    if (view.jumped()) return;
    const std::uint32_t place = view.place_of(at);
    log.insert(place, {at, total_before(log, place)}, static_cast<std::uint32_t>(numbers_.capacity + numbers_.debt));
  }
  change(log, view.place_of(at), taken);
}

bool SlidingLog::is_initial(std::span<const std::int64_t> state, Ticks now) const {
  std::int64_t word = state[0];
  const Log log(word);
  return View(*this, log, now).empty();
}

void SlidingLog::carry(const SlidingLog&, std::span<const std::int64_t> old_state, std::span<std::int64_t> state,
                       const Call&) const {
  state[0] = old_state[0];
}

void SlidingLog::release(std::span<std::int64_t> state) { Log(state[0]).release(); }

std::uint64_t SlidingLog::owned_bytes(std::span<const std::int64_t> state) {
  std::int64_t word = state[0];
  return Log(word).bytes();
}

}  // namespace weir::limit
