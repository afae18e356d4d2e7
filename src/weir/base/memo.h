// SPDX-License-Identifier: Apache-2.0
//
// Values that are worked out once for each key, and then kept: for what is met while a program runs and asked for
// again and again. Nothing is removed, so a reference stays valid as long as the memo; who asks bounds the keys.
// Thread safety: any thread may ask; what is known is found under a shared lock.
#pragma once

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace weir {

template <class Key, class Value>
class Memo {
 public:
  // `make()` is called for a new key, with the lock held.
  template <class Make>
  const Value& get(const Key& key, Make make) const {
    {
      const std::shared_lock lock(mutex_);
      const auto known = values_.find(key);
      if (known != values_.end()) return *known->second;
    }
    const std::unique_lock lock(mutex_);
    auto& value = values_[key];
    if (value == nullptr) value = std::make_unique<const Value>(make());
    return *value;
  }

 private:
  mutable std::shared_mutex mutex_;
  mutable std::unordered_map<Key, std::unique_ptr<const Value>> values_;
};

}  // namespace weir
