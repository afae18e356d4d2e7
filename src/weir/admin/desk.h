// SPDX-License-Identifier: Apache-2.0
//
// A thread for what blocks, beside an event loop: work is done there one after the other, and whoever waits for it goes
// on in the loop. Thread safety: the loop's thread, but for shut().
#pragma once

#include <condition_variable>
#include <coroutine>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "weir/io/event_loop.h"
#include "weir/io/task.h"

namespace weir::admin {

class Desk {
 public:
  static constexpr std::size_t kMostWaiting = 64;

  // The loop outlives it.
  explicit Desk(io::EventLoop& loop);
  ~Desk() { shut(); }
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;

  // Waits for the work that is being done. What has not begun never does, and whoever waits for that never goes on.
  // From any thread; the loop's next turns need the desk still.
  void shut();

  // Too many wait already.
  bool is_busy() const { return waiting_ >= kMostWaiting; }
  // Whatever `work` refers to outlives the task.
  template <class Work>
  io::Task<std::invoke_result_t<Work>> run(Work work) {
    std::optional<std::invoke_result_t<Work>> result;
    Turn turn(*this, [&] { result.emplace(work()); });
    co_await turn;
    co_return *std::move(result);
  }

 private:
  struct Job {
    const std::function<void()>* work = nullptr;
    std::coroutine_handle<> whoever;
  };
  class Turn {
   public:
    Turn(Desk& desk, std::function<void()> work) : desk_(desk), work_(std::move(work)) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> whoever) { desk_.hand_in({&work_, whoever}); }
    void await_resume() const noexcept {}

   private:
    Desk& desk_;
    const std::function<void()> work_;
  };

  void hand_in(const Job& job);
  void work();

  io::EventLoop& loop_;
  std::size_t waiting_ = 0;  // seen by the loop only
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> jobs_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace weir::admin
