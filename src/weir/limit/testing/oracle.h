// SPDX-License-Identifier: Apache-2.0
//
// Judges every field of an outcome by its definition, asking a model (model.h) again and again: `remaining` is what
// passes and one more does not; a refused cost is refused one tick before `retry_after` and passes at it; and so on.
// Thread safety: one thread.
#pragma once

#include <memory>
#include <string_view>
#include <variant>

#include "weir/limit/limit.h"
#include "weir/limit/testing/bucket_model.h"
#include "weir/limit/testing/lease_model.h"
#include "weir/limit/testing/model.h"
#include "weir/limit/testing/period_model.h"
#include "weir/limit/testing/sliding_models.h"

namespace weir::limit {

struct MakeModel {
  using Made = std::unique_ptr<Model>;
  Made operator()(const TokenBucket& limit) const { return std::make_unique<BucketModel>(limit); }
  Made operator()(const LeakyBucket& limit) const { return std::make_unique<BucketModel>(limit); }
  Made operator()(const SlidingWindow& limit) const { return std::make_unique<SlidingWindowModel>(limit); }
  Made operator()(const SlidingLog& limit) const { return std::make_unique<SlidingLogModel>(limit); }
  Made operator()(const Concurrency& limit) const { return std::make_unique<LeaseModel>(limit); }
  Made operator()(const FixedWindow& limit) const {
    const auto& [capacity, alignment, second, debt] = limit.numbers();
    return std::make_unique<PeriodModel<AlignedPeriods>>(
        AlignedPeriods{alignment}, PeriodModel<AlignedPeriods>::Numbers{capacity, debt, second});
  }
  Made operator()(const CalendarQuota& limit) const {
    const auto& [capacity, second, debt] = limit.numbers();
    return std::make_unique<PeriodModel<CivilPeriods>>(CivilPeriods{limit.calendar(), second},
                                                       PeriodModel<CivilPeriods>::Numbers{capacity, debt, second});
  }
};

class Oracle {
 public:
  explicit Oracle(const Limit& limit)
      : model_(std::visit(MakeModel{}, limit.algorithm())),
        capacity_(limit.capacity()),
        leases_(std::get_if<Concurrency>(&limit.algorithm()) != nullptr) {
    if (leases_) hint_ = std::get<Concurrency>(limit.algorithm()).numbers().ticks_per_second;
  }

  // Takes the step too. Returns the first field that is wrong, or nothing.
  std::string_view judge(const Call& call, Cost cost, const Outcome& outcome) {
    if (!model_->jumped(call)) return judge_on(*model_, call, cost, outcome);
    const auto repaired = model_->clone();  // a peek repairs only what it says
    Model& seen = cost > 0 ? *model_ : *repaired;
    seen.repair(call);
    return judge_on(seen, call, cost, outcome);
  }

  Model& model() { return *model_; }

 private:
  static Call later(Call call, Ticks by) {
    call.now += by;
    call.wall += by;
    return call;
  }
  // The same call by somebody who holds no lease.
  static Call stranger(Call call) {
    call.lease = {.low = ~std::uint64_t{0}, .high = ~std::uint64_t{0}};
    return call;
  }

  std::string_view judge_on(Model& model, const Call& call, Cost cost, const Outcome& outcome) const {
    const Ticks delay = model.delay(call);
    if (outcome.admitted != model.admits(call, cost)) return "admitted";
    if (outcome.admitted && cost > 0) model.admit(call, cost);
    if (outcome.delay != (outcome.admitted && cost > 0 ? delay : 0)) return "delay";
    if (!is_retry_after(model, call, cost, outcome)) return "retry_after";
    if (!is_remaining(model, stranger(call), outcome.remaining)) return "remaining";
    if (!is_reset_after(model, call, outcome.reset_after)) return "reset_after";
    if (!is_next_after(model, call, cost, outcome)) return "next_after";
    return {};
  }

  static bool is_remaining(const Model& model, const Call& call, Cost remaining) {
    return remaining >= 0 && (remaining == 0 || model.admits(call, remaining)) && !model.admits(call, remaining + 1);
  }
  static bool is_wait(const Model& model, const Call& call, Cost cost, Ticks wait) {
    return wait >= 1 && !model.admits(later(call, wait - 1), cost) && model.admits(later(call, wait), cost);
  }
  bool is_retry_after(const Model& model, const Call& call, Cost cost, const Outcome& outcome) const {
    if (outcome.admitted) return outcome.retry_after == 0;
    if (cost > capacity_) return !outcome.retry_after;
    if (leases_) return outcome.retry_after == hint_;
    return outcome.retry_after && is_wait(model, call, cost, *outcome.retry_after);
  }
  static bool is_reset_after(const Model& model, const Call& call, Ticks reset) {
    return reset >= 0 && model.unused(later(call, reset)) && (reset == 0 || !model.unused(later(call, reset - 1)));
  }
  bool is_next_after(const Model& model, const Call& call, Cost cost, const Outcome& outcome) const {
    if (leases_ || outcome.remaining >= capacity_) return !outcome.next_after;
    if (!outcome.next_after) return false;
    const bool refused = cost > 0 && outcome.retry_after > 0;  // a peek is none, even in debt
    if (refused && outcome.next_after > outcome.retry_after) return false;
    return is_wait(model, call, outcome.remaining + 1, *outcome.next_after);
  }

  std::unique_ptr<Model> model_;
  Cost capacity_;
  bool leases_;
  Ticks hint_ = 0;
};

}  // namespace weir::limit
