// SPDX-License-Identifier: Apache-2.0
//
// A timer that calls a member function, for owners that are observers of something else as well.
// Thread safety: the loop's thread.
#pragma once

#include "weir/io/timer.h"
#include "weir/io/waiter.h"

namespace weir::io {

template <class Owner, void (Owner::*Ring)()>
class Alarm final : private Observer {
 public:
  Alarm(TimerWheel& wheel, Owner& owner) : owner_(owner), timer_(wheel, *this) {}

  void set(Instant deadline) { timer_.set(deadline); }
  void clear() { timer_.clear(); }
  bool is_set() const { return timer_.is_set(); }

 private:
  void notify() override { (owner_.*Ring)(); }

  Owner& owner_;
  Timer timer_;
};

}  // namespace weir::io
