// SPDX-License-Identifier: Apache-2.0
//
// Deadlines of an event loop: a wheel of 4096 slots of about a millisecond (Varghese, Lauck: "Hashed and hierarchical
// timing wheels", 1987). Setting, moving and clearing a timer costs a few list operations; moving it further away
// costs nothing until its old slot comes round. Timers fire up to one slot late, never early.
// Thread safety: the loop's thread.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "weir/base/clock.h"
#include "weir/io/waiter.h"

namespace weir::io {

class TimerWheel;

// One deadline. Cleared when it is destroyed.
class Timer {
 public:
  Timer(TimerWheel& wheel, Observer& observer) : wheel_(wheel), observer_(observer) {}
  ~Timer() { clear(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  void set(Instant deadline);
  void clear();
  bool is_set() const { return deadline_ != Instant::max(); }
  Instant deadline() const { return deadline_; }

 private:
  friend class TimerWheel;
  void unlink();

  TimerWheel& wheel_;
  Observer& observer_;
  Timer* next_ = nullptr;
  Timer** link_ = nullptr;  // what points at this timer; null: in no slot
  Instant deadline_ = Instant::max();
  std::int64_t slot_tick_ = 0;  // the tick of the slot it is in
};

class TimerWheel {
 public:
  explicit TimerWheel(Instant start) : now_tick_(tick(start)) {}

  // Notifies every timer whose deadline is at or before `now`; such a timer is no longer set.
  void advance(Instant now);

  // Milliseconds until a timer may fire, at most `most`.
  int wait_ms(Instant now, int most) const;

 private:
  friend class Timer;
  static constexpr int kTickShift = 20;  // 2^20 ns
  static constexpr std::int64_t kSlots = 4096;
  static std::int64_t tick(Instant at) { return at.time_since_epoch().count() >> kTickShift; }

  void link(Timer& timer);
  void note_unlinked(std::int64_t index);
  void note_empty(std::int64_t index);
  void fire_slot(std::int64_t index, Instant now);
  int slots_to_next() const;  // kSlots when every slot is empty

  std::array<Timer*, kSlots> slots_{};
  std::array<std::uint64_t, kSlots / 64> occupied_{};  // a bit per slot
  std::uint64_t summary_ = 0;                          // a bit per word of occupied_
  std::int64_t now_tick_;                              // every tick before this one has been handled
};

}  // namespace weir::io
