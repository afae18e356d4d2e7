// SPDX-License-Identifier: Apache-2.0
//
// Waits until so many others are done: `co_await` it, once. Whoever counts down last continues the one that waits
// before it goes on itself. Thread safety: the loop's thread.
#pragma once

#include <coroutine>
#include <cstddef>
#include <utility>

namespace weir::io {

class Latch {
 public:
  explicit Latch(std::size_t count) : left_(count) {}

  void count_down() {
    if (--left_ == 0 && waiting_) std::exchange(waiting_, nullptr).resume();
  }

  bool await_ready() const noexcept { return left_ == 0; }
  void await_suspend(std::coroutine_handle<> waiting) noexcept { waiting_ = waiting; }
  void await_resume() const noexcept {}

 private:
  std::size_t left_;
  std::coroutine_handle<> waiting_;
};

}  // namespace weir::io
