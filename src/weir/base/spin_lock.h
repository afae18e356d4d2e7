// SPDX-License-Identifier: Apache-2.0
//
// A lock of one byte for critical sections that are short as a rule: free, it costs one exchange and one store.
// A waiter pauses, and after a while yields its core, because the holder may have lost its own.
// Not fair and not recursive. Fits std::lock_guard.
#pragma once

#include <sched.h>

#include <atomic>

namespace weir {

class SpinLock {
 public:
  void lock() {
    if (!held_.exchange(true, std::memory_order_acquire)) [[likely]]
      return;
    wait();
  }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  static constexpr int kPauses = 100;

  static void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb");
#endif
  }

  [[gnu::noinline]] void wait() {
    do {
      for (int tried = 0; held_.load(std::memory_order_relaxed); ++tried) {
        if (tried < kPauses) {
          pause();
        } else {
          ::sched_yield();
        }
      }
    } while (held_.exchange(true, std::memory_order_acquire));
  }

  std::atomic<bool> held_{false};
};

}  // namespace weir
