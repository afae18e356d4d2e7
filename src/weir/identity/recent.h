// SPDX-License-Identifier: Apache-2.0
//
// A bounded memory by fingerprint: where it is full, what was not asked for longest is forgotten.
// Thread safety: one thread.
#pragma once

#include <cstddef>
#include <list>
#include <unordered_map>
#include <utility>

#include "weir/base/fingerprint.h"

namespace weir::identity {

template <class Value>
class Recent {
 public:
  // Requires: room for one at least.
  explicit Recent(std::size_t room) : room_(room) {}

  // Null: not there. Stays valid until the next change of this memory.
  Value* find(const Fingerprint& print) {
    const auto found = index_.find(print);
    if (found == index_.end()) return nullptr;
    order_.splice(order_.begin(), order_, found->second);
    return &found->second->second;
  }

  Value& put(const Fingerprint& print, Value value) {
    erase(print);
    if (index_.size() >= room_) erase(order_.back().first);
    order_.emplace_front(print, std::move(value));
    index_.emplace(print, order_.begin());
    return order_.front().second;
  }

  void erase(Fingerprint print) {
    const auto found = index_.find(print);
    if (found == index_.end()) return;
    order_.erase(found->second);
    index_.erase(found);
  }

  std::size_t size() const { return index_.size(); }

 private:
  struct LowWord {
    std::size_t operator()(const Fingerprint& print) const { return print.low; }
  };
  using Order = std::list<std::pair<Fingerprint, Value>>;

  std::size_t room_;
  Order order_;  // the last asked for is the first
  std::unordered_map<Fingerprint, typename Order::iterator, LowWord> index_;
};

}  // namespace weir::identity
