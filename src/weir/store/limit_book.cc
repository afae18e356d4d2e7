// SPDX-License-Identifier: Apache-2.0
#include "weir/store/limit_book.h"

#include <cassert>

namespace weir::store {

LimitBook::LimitBook(const limit::Limit& first)
    : jittered_(first.has_jitter()),
      keeps_entries_(first.keeps_entries()),
      uniform_(keeps_entries_ || first.holds<limit::LeakyBucket>()),
      state_words_(uniform_ ? first.state_words() : limit::Limit::kMaxStateWords) {
  add(first);
}

std::optional<std::uint32_t> LimitBook::add(const limit::Limit& limit) {
  assert(size() == 0 || takes(limit));
  const std::uint32_t number = size();
  if (number == kMost) return std::nullopt;
  if (number % kPage == 0) {
    owned_.emplace_back().reserve(kPage);
    pages_[number / kPage].store(owned_.back().data(), std::memory_order_release);
  }
  owned_.back().push_back(limit);
  size_.store(number + 1, std::memory_order_release);
  return number;
}

bool LimitBook::takes(const limit::Limit& limit) const {
  if (uniform_) return limit.algorithm().index() == (*this)[0].algorithm().index();
  return !limit.keeps_entries() && !limit.holds<limit::LeakyBucket>() && (jittered_ || !limit.has_jitter());
}

}  // namespace weir::store
