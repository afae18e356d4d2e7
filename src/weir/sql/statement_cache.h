// SPDX-License-Identifier: Apache-2.0
//
// Prepared statements by their text, so that each is prepared once per connection. Bounded: when it is full all are
// forgotten. Thread safety: none.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>

namespace weir::sql {

template <class Prepared>
class StatementCache {
 public:
  static constexpr std::size_t kMost = 64;

  // Null when it was never added, or forgotten. Until the next add().
  const Prepared* find(const std::string& statement) const {
    const auto found = statements_.find(statement);
    return found == statements_.end() ? nullptr : &found->second;
  }

  const Prepared& add(const std::string& statement, Prepared prepared) {
    if (statements_.size() >= kMost) statements_.clear();
    return statements_.insert_or_assign(statement, std::move(prepared)).first->second;
  }

  void clear() { statements_.clear(); }
  void forget(const std::string& statement) { statements_.erase(statement); }

 private:
  std::unordered_map<std::string, Prepared> statements_;
};

}  // namespace weir::sql
