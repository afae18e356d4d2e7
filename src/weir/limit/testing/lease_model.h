// SPDX-License-Identifier: Apache-2.0
//
// The leases that are alive.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "weir/limit/concurrency.h"
#include "weir/limit/testing/model.h"

namespace weir::limit {

class LeaseModel final : public Model {
 public:
  explicit LeaseModel(const Concurrency& limit) : numbers_(limit.numbers()) {}
  std::unique_ptr<Model> clone() const override { return std::make_unique<LeaseModel>(*this); }

  bool admits(const Call& call, Cost cost) const override {
    return is_alive(call) || held(call) + cost <= numbers_.capacity;
  }
  void admit(const Call& call, Cost cost) override {
    std::erase_if(leases_, [&](const Lease& lease) { return lease.ends_at <= call.now; });
    if (!is_alive(call)) leases_.push_back({call.lease, cost, call.now + numbers_.lease});
  }
  bool unused(const Call& call) const override { return held(call) == 0; }

  bool jumped(const Call& call) const override {
    return std::ranges::any_of(leases_, [&](const Lease& lease) { return is_too_long(lease, call); });
  }
  void repair(const Call& call) override {
    for (Lease& lease : leases_) {
      if (is_too_long(lease, call)) lease.ends_at = call.now + numbers_.lease;
    }
  }

  Ticks instant(const Call& call) const override { return call.now; }
  void give_back(const Call& call, Cost, Ticks) override { end(call); }
  void take(const Call&, Cost, Ticks) override {}

  bool end(const Call& call) {
    return std::erase_if(leases_, [&](const Lease& lease) { return is(lease, call); }) > 0;
  }
  bool renew(const Call& call) {
    const auto found = std::ranges::find_if(leases_, [&](const Lease& lease) { return is(lease, call); });
    if (found == leases_.end()) return false;
    const Ticks lease = call.now + numbers_.lease;
    found->ends_at = is_too_long(*found, call) ? lease : std::max(found->ends_at, lease);
    return true;
  }
  Cost held(const Call& call) const {
    Cost sum = 0;
    for (const Lease& lease : leases_) sum += lease.ends_at > call.now ? lease.cost : 0;
    return sum;
  }

 private:
  struct Lease {
    LeaseId id;
    Cost cost;
    Ticks ends_at;
  };
  static bool is(const Lease& lease, const Call& call) { return lease.id == call.lease && lease.ends_at > call.now; }
  bool is_alive(const Call& call) const {
    return std::ranges::any_of(leases_, [&](const Lease& lease) { return is(lease, call); });
  }
  bool is_too_long(const Lease& lease, const Call& call) const {
    return lease.ends_at - call.now > numbers_.lease + kClockStepSeconds * numbers_.ticks_per_second;
  }

  Concurrency::Numbers numbers_;
  std::vector<Lease> leases_;
};

}  // namespace weir::limit
