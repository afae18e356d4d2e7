// SPDX-License-Identifier: Apache-2.0
//
// How events reach code. An Observer is told that something about its streams or timers may have changed; a Waiter
// is the observer for coroutines: `co_await waiter` suspends until the next notification. Notifications carry no
// data and may be spurious: whoever wakes looks at the streams' and timers' state again. A notification while
// nobody waits is dropped, because the state it speaks of stays visible. Thread safety: the loop's thread.
#pragma once

#include <coroutine>
#include <utility>

namespace weir::io {

class Observer {
 public:
  virtual void notify() = 0;

 protected:
  ~Observer() = default;
};

class Waiter final : public Observer {
 public:
  void notify() override {
    if (waiting_) std::exchange(waiting_, nullptr).resume();
  }

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) noexcept { waiting_ = waiting; }
  void await_resume() const noexcept {}

 private:
  std::coroutine_handle<> waiting_;
};

}  // namespace weir::io
