// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/lookup_access.h"

#include "weir/io/timer.h"

namespace weir::gateway {

io::Task<bool> LookupAccess::wait(const partners::Subject& subject, Instant deadline) {
  if (shut_ || loop_.now() >= deadline) co_return false;
  io::Waiter wake;
  io::Timer timer(loop_.timers(), wake);
  Waiting waiting{wake};
  const std::uint64_t ticket = ++tickets_;
  waiting_.emplace(ticket, &waiting);
  timer.set(deadline);
  directory_.want(subject, [this, ticket](bool read) { loop_.post([this, ticket, read] { land(ticket, read); }); });
  co_await wake;
  waiting_.erase(ticket);
  loop_.forget(wake);
  co_return waiting.read;
}

void LookupAccess::shut() {
  shut_ = true;
  while (!waiting_.empty()) land(waiting_.begin()->first, false);
}

void LookupAccess::land(std::uint64_t ticket, bool read) {
  const auto found = waiting_.find(ticket);
  if (found == waiting_.end()) return;  // its time was over
  Waiting* const one = found->second;
  waiting_.erase(found);
  one->read = read;
  one->wake.notify();
}

}  // namespace weir::gateway
