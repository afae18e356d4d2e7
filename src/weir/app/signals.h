// SPDX-License-Identifier: Apache-2.0
//
// Signals as values: blocked for all threads of the process and waited for by one. Create it before any thread is
// started. Thread safety: one thread waits.
#pragma once

#include <chrono>
#include <csignal>
#include <initializer_list>
#include <optional>

namespace weir::app {

class Signals {
 public:
  Signals(std::initializer_list<int> signals);

  // The next signal, or nothing when the time is over.
  std::optional<int> wait(std::chrono::milliseconds at_most) const;

 private:
  sigset_t set_{};
};

}  // namespace weir::app
