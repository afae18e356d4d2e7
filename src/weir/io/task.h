// SPDX-License-Identifier: Apache-2.0
//
// Coroutines of the event loop. A Task<T> starts when it is awaited and continues its caller when it ends; a
// detached coroutine (spawn) runs until its first suspension at once and frees itself at its end. No exception leaves
// a coroutine: one that tries ends the process.
// GCC 12 mistakes the lifetime of aggregates that are made within a co_await expression: give them names before it.
// Thread safety: a coroutine lives on one loop's thread.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace weir::io {

template <class T>
class Task;

namespace detail {

struct ResumeCaller {
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
    return ended.promise().caller;
  }
  void await_resume() const noexcept {}
};

struct PromiseBase {
  std::coroutine_handle<> caller = std::noop_coroutine();

  std::suspend_always initial_suspend() const noexcept { return {}; }
  ResumeCaller final_suspend() const noexcept { return {}; }
  void unhandled_exception() const noexcept { std::terminate(); }
};

template <class T>
struct Promise : PromiseBase {
  std::optional<T> value;

  Task<T> get_return_object();
  template <class U>
  void return_value(U&& result) {
    value.emplace(std::forward<U>(result));
  }
  T take() { return std::move(*value); }
};

template <>
struct Promise<void> : PromiseBase {
  Task<void> get_return_object();
  void return_void() const noexcept {}
  void take() const noexcept {}
};

}  // namespace detail

template <class T>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::Promise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
    handle_.promise().caller = caller;
    return handle_;
  }
  T await_resume() { return handle_.promise().take(); }

 private:
  Handle handle_;
};

template <class T>
Task<T> detail::Promise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<Promise>::from_promise(*this));
}
inline Task<void> detail::Promise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<Promise>::from_promise(*this));
}

// The return type of a coroutine that nobody awaits.
struct Detached {
  struct promise_type {
    Detached get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };
};

}  // namespace weir::io
