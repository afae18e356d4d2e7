// SPDX-License-Identifier: Apache-2.0
#include "weir/app/signals.h"

#include <pthread.h>

#include <ctime>

namespace weir::app {

Signals::Signals(std::initializer_list<int> signals) {
  ::sigemptyset(&set_);
  for (const int signal : signals) ::sigaddset(&set_, signal);
  ::pthread_sigmask(SIG_BLOCK, &set_, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

std::optional<int> Signals::wait(std::chrono::milliseconds at_most) const {
  const timespec time{.tv_sec = at_most.count() / 1000, .tv_nsec = at_most.count() % 1000 * 1'000'000};
  const int signal = ::sigtimedwait(&set_, nullptr, &time);
  if (signal < 0) return std::nullopt;
  return signal;
}

}  // namespace weir::app
