// SPDX-License-Identifier: Apache-2.0
//
// The keys of issuers that have a URL: fetched and kept fresh, each URL on a thread of its own, because fetching
// blocks. What fails leaves the keys as they were. Thread safety: open, wait, prune from one thread; figures from
// any.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "weir/base/clock.h"
#include "weir/config/config.h"
#include "weir/identity/key_source.h"

namespace weir::gateway {

class KeyRefresher {
 public:
  explicit KeyRefresher(const Clock& clock);
  ~KeyRefresher();

  // Keys that are fetched from now on, for as long as somebody holds them; callers with the same URL share them.
  std::shared_ptr<identity::KeySource> open(const config::JwtCaller& caller);
  // Until all have been fetched for the first time, but not longer than this.
  void wait(nanoseconds most);
  // Ends what nobody holds any more.
  void prune();

  struct Figures {
    std::string url;
    std::uint64_t successes = 0;
    std::uint64_t failures = 0;
    std::size_t keys = 0;
    std::optional<nanoseconds> age;  // since the last success
  };
  std::vector<Figures> figures() const;

 private:
  class Fetch;

  const Clock& clock_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Fetch>> fetches_;
};

}  // namespace weir::gateway
