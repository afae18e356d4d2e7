// SPDX-License-Identifier: Apache-2.0
#include "weir/identity/key_source.h"

namespace weir::identity {

KeySource::Snapshot KeySource::snapshot() const {
  const std::scoped_lock lock(mutex_);
  return {version_.load(std::memory_order_relaxed), keys_};
}

void KeySource::replace(std::shared_ptr<const jose::KeySet> keys) {
  {
    const std::scoped_lock lock(mutex_);
    keys_ = std::move(keys);
    version_.fetch_add(1, std::memory_order_release);
  }
  changed_.notify_all();
}

// Costs nothing while a miss is known already.
void KeySource::miss() {
  if (missed_.load(std::memory_order_relaxed)) return;
  {
    const std::scoped_lock lock(mutex_);
    missed_ = true;
  }
  changed_.notify_all();
}

bool KeySource::wait_for_miss(std::chrono::nanoseconds most) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, most, [this] { return missed_ || closed_; });
  return missed_.exchange(false);
}

bool KeySource::wait_for_keys(std::chrono::nanoseconds most) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, most, [this] { return keys_ != nullptr || closed_; });
  return keys_ != nullptr;
}

void KeySource::close() {
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

}  // namespace weir::identity
