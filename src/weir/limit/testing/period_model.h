// SPDX-License-Identifier: Apache-2.0
//
// At most L units in each period, whatever makes the period: aligned windows or the civil calendar.
#pragma once

#include <algorithm>
#include <memory>

#include "weir/limit/calendar_quota.h"
#include "weir/limit/fixed_window.h"
#include "weir/limit/testing/model.h"

namespace weir::limit {

// A class of how periods follow one another: `start_of(Call, instant)`.
struct AlignedPeriods {
  Alignment alignment;
  Ticks start_of(const Call& call, Ticks at) const {
    const auto phase = static_cast<Ticks>(call.phase % static_cast<std::uint64_t>(alignment.window));
    const Ticks offset = alignment.jitter ? phase : alignment.offset;
    return offset + floored(at - offset, alignment.window) * alignment.window;
  }
};

struct CivilPeriods {
  CivilCalendar calendar;
  Ticks second;
  Ticks start_of(const Call&, Ticks at) const { return calendar.period_of(floored(at, second)).start * second; }
};

template <class Periods>
class PeriodModel final : public Model {
 public:
  struct Numbers {
    Cost capacity;
    Cost debt;
    Ticks second;
  };
  PeriodModel(const Periods& periods, const Numbers& numbers) : periods_(periods), numbers_(numbers) {}
  std::unique_ptr<Model> clone() const override { return std::make_unique<PeriodModel>(*this); }

  bool admits(const Call& call, Cost cost) const override { return used(call) + cost <= numbers_.capacity; }
  void admit(const Call& call, Cost cost) override { enter(call, instant(call), cost); }
  bool unused(const Call& call) const override { return used(call) == 0; }

  bool jumped(const Call& call) const override {
    return !log_.empty() && reached(call) - call.wall > kClockStepSeconds * numbers_.second;
  }
  void repair(const Call& call) override {
    for (Charge& charge : log_) charge.at = call.wall;
  }

  // A clock that is behind stands still at the begin of the period that was reached.
  Ticks instant(const Call& call) const override {
    return log_.empty() ? call.wall : std::max(call.wall, reached(call));
  }
  void give_back(const Call& call, Cost cost, Ticks at) override {
    if (is_current(call, at)) enter(call, at, -std::min(cost, used(call)));
  }
  void take(const Call& call, Cost cost, Ticks at) override {
    const Cost most = std::max(used(call), numbers_.capacity + numbers_.debt);
    if (is_current(call, at)) enter(call, at, std::min(cost, most - used(call)));
  }

 private:
  // The log has charges of one period.
  Ticks reached(const Call& call) const { return periods_.start_of(call, log_.back().at); }
  bool is_current(const Call& call, Ticks at) const {
    return periods_.start_of(call, at) == periods_.start_of(call, instant(call));
  }
  Cost used(const Call& call) const {
    if (log_.empty() || !is_current(call, log_.back().at)) return 0;
    Cost sum = 0;
    for (const Charge& charge : log_) sum += charge.cost;
    return sum;
  }
  void enter(const Call& call, Ticks at, Cost cost) {
    const Ticks start = periods_.start_of(call, at);
    std::erase_if(log_, [&](const Charge& charge) { return periods_.start_of(call, charge.at) != start; });
    log_.push_back({at, cost});
    if (used(call) == 0) log_.clear();
  }

  Periods periods_;
  Numbers numbers_;
  Log log_;
};

}  // namespace weir::limit
