// SPDX-License-Identifier: Apache-2.0
#include "weir/admin/desk.h"

namespace weir::admin {

Desk::Desk(io::EventLoop& loop) : loop_(loop), thread_([this] { work(); }) {}

void Desk::shut() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Desk::hand_in(const Job& job) {
  ++waiting_;
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(job);
  }
  wake_.notify_one();
}

void Desk::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (stopping_) return;
    const Job job = jobs_.front();
    jobs_.pop_front();
    lock.unlock();
    (*job.work)();
    loop_.post([this, job] {
      --waiting_;
      job.whoever.resume();
    });
    lock.lock();
  }
}

}  // namespace weir::admin
