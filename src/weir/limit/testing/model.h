// SPDX-License-Identifier: Apache-2.0
//
// What an algorithm means, as plainly as it can be said: a log of what was admitted, and the question whether a cost
// would pass now. It rounds nothing and knows no waits; oracle.h finds those by asking again. Slow, and written from
// the definitions, not from the code that it judges.
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "weir/limit/outcome.h"
#include "weir/limit/ranges.h"

namespace weir::limit {

class Model {
 public:
  virtual ~Model() = default;
  virtual std::unique_ptr<Model> clone() const = 0;

  // Whether this cost would pass. Of cost 0: whether there is no debt.
  virtual bool admits(const Call& call, Cost cost) const = 0;
  virtual void admit(const Call& call, Cost cost) = 0;

  // Whether everything is as if nothing had ever been admitted.
  virtual bool unused(const Call& call) const = 0;

  // Whether the log lies further in the future than the clock is trusted to have gone back, and what is done then.
  virtual bool jumped(const Call& call) const = 0;
  virtual void repair(const Call& call) = 0;

  // The instant at which a charge of this call counts, as this model names it.
  virtual Ticks instant(const Call& call) const = 0;
  virtual void give_back(const Call& call, Cost cost, Ticks at) = 0;
  virtual void take(const Call& call, Cost cost, Ticks at) = 0;

  // How long an admitted request has to wait. To be asked before it is admitted.
  virtual Ticks delay(const Call&) const { return 0; }

 protected:
  struct Charge {
    Ticks at;
    Cost cost;
  };
  using Log = std::vector<Charge>;
};

// Rounded towards minus infinity. Requires: by > 0.
inline Ticks floored(Ticks value, Ticks by) { return value / by - (value % by < 0 ? 1 : 0); }

}  // namespace weir::limit
