// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/lookup_access.h"

#include <utility>

#include "weir/io/timer.h"

namespace weir::gateway {

io::Task<lookup::KnownPtr> LookupAccess::wait(const partners::Subject& subject, Instant deadline) {
  if (shut_ || loop_.now() >= deadline) co_return nullptr;
  io::Waiter wake;
  io::Timer timer(loop_.timers(), wake);
  Waiting waiting{wake, nullptr};
  const std::uint64_t ticket = ++tickets_;
  waiting_.emplace(ticket, &waiting);
  timer.set(deadline);
  directory_.want(subject, [this, ticket](const lookup::KnownPtr& known) {
    loop_.post([this, ticket, known] { land(ticket, known); });
  });
  co_await wake;
  waiting_.erase(ticket);
  loop_.forget(wake);
  co_return std::move(waiting.known);
}

void LookupAccess::shut() {
  shut_ = true;
  while (!waiting_.empty()) land(waiting_.begin()->first, nullptr);
}

void LookupAccess::land(std::uint64_t ticket, lookup::KnownPtr known) {
  const auto found = waiting_.find(ticket);
  if (found == waiting_.end()) return;  // its time was over
  Waiting* const one = found->second;
  waiting_.erase(found);
  one->known = std::move(known);
  one->wake.notify();
}

}  // namespace weir::gateway
