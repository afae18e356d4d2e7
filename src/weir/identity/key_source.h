// SPDX-License-Identifier: Apache-2.0
//
// The keys of one issuer as they are now. Whoever fetches them replaces them; workers look at a number first and take
// the keys again only when it has changed, so they neither wait for nor disturb one another.
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "weir/jose/key_set.h"

namespace weir::identity {

class KeySource {
 public:
  struct Snapshot {
    std::uint64_t version = 0;  // 0: there are no keys yet
    std::shared_ptr<const jose::KeySet> keys;
  };

  KeySource() = default;
  // Keys that stay.
  explicit KeySource(std::shared_ptr<const jose::KeySet> keys) { replace(std::move(keys)); }

  std::uint64_t version() const { return version_.load(std::memory_order_acquire); }
  Snapshot snapshot() const;
  void replace(std::shared_ptr<const jose::KeySet> keys);

  // A token names a key that is not there: the keys may have changed.
  void miss();
  // For the one who fetches: waits so long, or until a miss or close(). True after a miss.
  bool wait_for_miss(std::chrono::nanoseconds most);
  // Waits so long, or until there are keys or close().
  bool wait_for_keys(std::chrono::nanoseconds most);
  void close();
  bool is_closed() const { return closed_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> version_{0};
  std::atomic<bool> missed_{false};
  std::atomic<bool> closed_{false};
  mutable std::mutex mutex_;  // guards keys_, and changes of the above
  std::condition_variable changed_;
  std::shared_ptr<const jose::KeySet> keys_;
};

}  // namespace weir::identity
