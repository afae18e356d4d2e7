// SPDX-License-Identifier: Apache-2.0
#include "weir/lookup/watcher.h"

#include <utility>

namespace weir::lookup {

Watcher::Watcher(nanoseconds every, Owner owner)
    : every_(every), owner_(std::move(owner)), thread_([this] { run(); }) {}

Watcher::~Watcher() {
  shut();
  thread_.join();
}

void Watcher::shut() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
}

void Watcher::look_now() {
  {
    const std::lock_guard lock(mutex_);
    told_ = true;
  }
  wake_.notify_one();
}

void Watcher::run() {
  const std::unique_ptr<partners::Source> source = owner_.open();
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    told_ = false;
    lock.unlock();
    if (!look(*source)) failures_.fetch_add(1, std::memory_order_relaxed);
    lock.lock();
    wake_.wait_for(lock, every_, [this] { return stopping_ || told_; });
  }
}

bool Watcher::look(partners::Source& source) {
  const auto newest = source.revision();
  if (!newest) return false;
  if (revision() < 0 || *newest < revision()) begin_at(*newest);
  while (*newest > revision()) {
    const auto changes = source.changes_after(revision(), kMostTogether);
    if (!changes) return false;
    if (changes->empty()) return true;
    owner_.changed(*changes);
    revision_.store(changes->back().revision, std::memory_order_relaxed);
  }
  return true;
}

void Watcher::begin_at(std::int64_t newest) {
  owner_.began(newest);
  revision_.store(newest, std::memory_order_relaxed);
}

}  // namespace weir::lookup
