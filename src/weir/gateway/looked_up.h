// SPDX-License-Identifier: Apache-2.0
//
// What was looked up for one request while it waited. It holds for that request, whatever becomes of it in the cache
// in the meantime: a look-up is done once, however small the cache. Thread safety: none.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "weir/lookup/known.h"
#include "weir/partners/records.h"

namespace weir::gateway {

class LookedUp {
 public:
  // Keys of several callers, the partner and its plan; and again when these change meanwhile.
  static constexpr std::size_t kMost = 16;

  // Whether there is anything to ask.
  explicit LookedUp(bool may_wait) : may_wait_(may_wait) {}

  // False: what is not known by now is not going to be.
  bool may_wait() const { return may_wait_; }
  // Null: it was not looked up.
  lookup::KnownPtr find(const partners::Subject& subject) const {
    for (const auto& [one, known] : found_) {
      if (one == subject) return known;
    }
    return nullptr;
  }
  void wait_no_more() { may_wait_ = false; }
  // Null: it could not be had in time, and nothing more is waited for.
  void add(const partners::Subject& subject, lookup::KnownPtr known) {
    may_wait_ = known != nullptr && found_.size() + 1 < kMost;
    if (known != nullptr) found_.emplace_back(subject, std::move(known));
  }

 private:
  bool may_wait_;
  std::vector<std::pair<partners::Subject, lookup::KnownPtr>> found_;
};

}  // namespace weir::gateway
