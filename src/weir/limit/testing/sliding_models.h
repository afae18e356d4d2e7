// SPDX-License-Identifier: Apache-2.0
//
// The two algorithms that look back over a trailing window: by two weighted counters, and exactly.
#pragma once

#include <algorithm>
#include <memory>

#include "weir/limit/sliding_log.h"
#include "weir/limit/sliding_window.h"
#include "weir/limit/testing/model.h"

namespace weir::limit {

// The units of this window, and those of the one before by the part of it that a trailing window still covers.
class SlidingWindowModel final : public Model {
 public:
  explicit SlidingWindowModel(const SlidingWindow& limit) : numbers_(limit.numbers()) {}
  std::unique_ptr<Model> clone() const override { return std::make_unique<SlidingWindowModel>(*this); }

  bool admits(const Call& call, Cost cost) const override {
    using Exact = __int128;  // units times ticks: below 2^98
    const auto [index, elapsed] = place(call);
    const Ticks window = numbers_.alignment.window;
    const Exact current = Exact{count(call, index)} + cost;
    const Exact weighted = Exact{count(call, index - 1)} * (window - elapsed);
    return current <= numbers_.capacity && weighted + current * window <= Exact{numbers_.capacity} * window;
  }
  void admit(const Call& call, Cost cost) override {
    const Ticks at = instant(call);
    reach(call);
    log_.push_back({at, cost});
  }
  bool unused(const Call& call) const override {
    const Ticks index = place(call).index;
    return count(call, index) == 0 && count(call, index - 1) == 0;
  }

  bool jumped(const Call& call) const override {
    return holds_something(call) && start_of(call, reached_) - call.wall > kClockStepSeconds * second();
  }
  // What counts moves to the clock's window as if time stood still at the begin of the one that was reached: fully.
  void repair(const Call& call) override {
    const Cost current = count(call, reached_);
    const Cost fill = std::min(current + count(call, reached_ - 1), std::max(current, numbers_.capacity));
    reached_ = index_of(call, call.wall);
    log_ = {{call.wall, fill}};
  }

  Ticks instant(const Call& call) const override {
    const auto [index, elapsed] = place(call);
    return start_of(call, index) + elapsed;
  }
  void give_back(const Call& call, Cost cost, Ticks at) override {
    if (counts(call, at)) change(call, at, -std::min(cost, count(call, index_of(call, at))));
  }
  void take(const Call& call, Cost cost, Ticks at) override {
    const Cost found = count(call, index_of(call, at));
    const Cost most = std::max(found, numbers_.capacity + numbers_.debt);
    if (counts(call, at)) change(call, at, std::min(cost, most - found));
  }

 private:
  struct Place {
    Ticks index;  // of the window
    Ticks elapsed;
  };
  Ticks second() const { return numbers_.ticks_per_second; }
  Ticks offset(const Call& call) const {
    const Alignment& alignment = numbers_.alignment;
    const auto phase = static_cast<Ticks>(call.phase % static_cast<std::uint64_t>(alignment.window));
    return alignment.jitter ? phase : alignment.offset;
  }
  Ticks index_of(const Call& call, Ticks at) const { return floored(at - offset(call), numbers_.alignment.window); }
  Ticks start_of(const Call& call, Ticks index) const { return index * numbers_.alignment.window + offset(call); }
  Cost count(const Call& call, Ticks index) const {
    Cost sum = 0;
    for (const Charge& charge : log_) sum += index_of(call, charge.at) == index ? charge.cost : 0;
    return sum;
  }
  bool holds_something(const Call& call) const { return count(call, reached_) > 0 || count(call, reached_ - 1) > 0; }
  // A clock that is behind stands still at the begin of the window that was reached.
  Place place(const Call& call) const {
    const Ticks index = index_of(call, call.wall);
    if (reached_ > index && holds_something(call)) return {reached_, 0};
    return {index, call.wall - start_of(call, index)};
  }
  bool counts(const Call& call, Ticks at) const {
    const Ticks index = place(call).index;
    return index_of(call, at) == index || index_of(call, at) == index - 1;
  }
  void reach(const Call& call) {
    reached_ = place(call).index;
    std::erase_if(log_, [&](const Charge& charge) { return index_of(call, charge.at) < reached_ - 1; });
  }
  void change(const Call& call, Ticks at, Cost by) {
    reach(call);
    log_.push_back({at, by});
  }

  SlidingWindow::Numbers numbers_;
  Ticks reached_ = -1;
  Log log_;
};

// What was admitted in the W ticks up to now.
class SlidingLogModel final : public Model {
 public:
  explicit SlidingLogModel(const SlidingLog& limit) : numbers_(limit.numbers()) {}
  std::unique_ptr<Model> clone() const override { return std::make_unique<SlidingLogModel>(*this); }

  bool admits(const Call& call, Cost cost) const override { return used(call) + cost <= numbers_.capacity; }
  void admit(const Call& call, Cost cost) override {
    const Ticks at = instant(call);
    std::erase_if(log_, [&](const Charge& charge) { return charge.at <= at - numbers_.window; });
    if (!log_.empty() && log_.back().at == at) {
      log_.back().cost += cost;
    } else {
      log_.push_back({at, cost});
    }
  }
  bool unused(const Call& call) const override { return used(call) == 0; }

  bool jumped(const Call& call) const override {
    return !log_.empty() && log_.back().at - call.now > kClockStepSeconds * numbers_.ticks_per_second;
  }
  void repair(const Call& call) override {
    const Ticks ahead = log_.back().at - call.now;
    for (Charge& charge : log_) charge.at -= ahead;
  }

  // A clock that is behind stands still at the newest charge.
  Ticks instant(const Call& call) const override {
    return log_.empty() ? call.now : std::max(call.now, log_.back().at);
  }
  void give_back(const Call& call, Cost cost, Ticks at) override { change(call, at, -std::min(cost, charged(at))); }
  void take(const Call& call, Cost cost, Ticks at) override {
    const Cost taken = std::clamp<Cost>(numbers_.capacity + numbers_.debt - used(call), 0, cost);
    const bool charged_nothing = std::ranges::find(log_, at, &Charge::at) == log_.end();
    if (charged_nothing && taken > 0 && counts(call, at) && at <= instant(call) && !jumped(call)) {
      log_.insert(std::ranges::lower_bound(log_, at, {}, &Charge::at), Charge{at, 0});
    }
    change(call, at, taken);
  }

 private:
  bool counts(const Call& call, Ticks at) const { return at > instant(call) - numbers_.window; }
  Cost used(const Call& call) const {
    Cost sum = 0;
    for (const Charge& charge : log_) sum += counts(call, charge.at) ? charge.cost : 0;
    return sum;
  }
  Cost charged(Ticks at) const {
    const auto found = std::ranges::find(log_, at, &Charge::at);
    return found == log_.end() ? 0 : found->cost;
  }
  // A charge becomes larger or smaller, or is gone.
  void change(const Call& call, Ticks at, Cost by) {
    const auto found = std::ranges::find(log_, at, &Charge::at);
    if (found == log_.end() || !counts(call, at)) return;
    found->cost += by;
    if (found->cost == 0) log_.erase(found);
  }

  SlidingLog::Numbers numbers_;
  Log log_;
};

}  // namespace weir::limit
