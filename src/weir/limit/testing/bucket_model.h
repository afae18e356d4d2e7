// SPDX-License-Identifier: Apache-2.0
//
// A bucket by its guarantee: a cost passes when, for every earlier charge, all that was admitted since then is at
// most the burst and what the rate has brought meanwhile.
#pragma once

#include <algorithm>
#include <memory>

#include "weir/limit/leaky_bucket.h"
#include "weir/limit/testing/model.h"
#include "weir/limit/token_bucket.h"

namespace weir::limit {

class BucketModel final : public Model {
 public:
  explicit BucketModel(const TokenBucket& bucket) : numbers_(bucket.numbers()) {}
  explicit BucketModel(const LeakyBucket& bucket)
      : numbers_{.count = bucket.numbers().count,
                 .period = bucket.numbers().period,
                 .capacity = bucket.numbers().queue + 1,
                 .ticks_per_second = bucket.numbers().ticks_per_second},
        undelayed_(bucket.numbers().undelayed) {}
  std::unique_ptr<Model> clone() const override { return std::make_unique<BucketModel>(*this); }

  bool admits(const Call& call, Cost cost) const override {
    return cost <= numbers_.capacity && level(call.now) + scaled(cost) <= scaled(numbers_.capacity);
  }
  void admit(const Call& call, Cost cost) override { log_.push_back({call.now, cost}); }
  bool unused(const Call& call) const override { return level(call.now) == 0; }

  bool jumped(const Call& call) const override {
    const Exact brought = Exact{kClockStepSeconds * numbers_.ticks_per_second} * numbers_.count;
    return level(call.now) > scaled(numbers_.capacity + numbers_.debt) + brought;
  }
  void repair(const Call& call) override { log_ = {{call.now, numbers_.capacity + numbers_.debt}}; }

  Ticks instant(const Call& call) const override { return call.now; }
  // As a charge of less than nothing, and never above full from now on.
  void give_back(const Call& call, Cost cost, Ticks) override {
    if (unused(call)) return;
    log_.push_back({call.now, -cost});
    log_.push_back({call.now, 0});
  }
  void take(const Call& call, Cost cost, Ticks) override {
    if (jumped(call)) repair(call);
    const Cost lowest = numbers_.capacity + numbers_.debt;
    if (level(call.now) > scaled(lowest)) return;  // a clock that went back a little
    log_.push_back({call.now, cost});
    if (level(call.now) > scaled(lowest)) log_ = {{call.now, lowest}};
  }

  // Those that are ahead in the line pass one after another; some of them need not be waited for.
  Ticks delay(const Call& call) const override {
    const Exact ahead = level(call.now) - scaled(undelayed_);
    return undelayed_ < 0 || ahead <= 0 ? 0 : static_cast<Ticks>((ahead + numbers_.count - 1) / numbers_.count);
  }

 private:
  // Units times P, so that nothing is divided. A trace adds up to far less than 2^127 of them.
  using Exact = __int128;
  Exact scaled(Cost cost) const { return Exact{cost} * numbers_.period; }

  Exact level(Ticks now) const {
    Exact highest = 0;
    Exact since = 0;
    for (auto charge = log_.rbegin(); charge != log_.rend(); ++charge) {
      since += scaled(charge->cost);
      highest = std::max(highest, since - (Exact{now} - charge->at) * numbers_.count);
    }
    return highest;
  }

  TokenBucket::Numbers numbers_;
  std::int64_t undelayed_ = -1;  // not a line
  Log log_;
};

}  // namespace weir::limit
