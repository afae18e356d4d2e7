// SPDX-License-Identifier: Apache-2.0
//
// The paths that services have, to tell whether an endpoint pattern can match any request at all.
// Not thread safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace weir::config {

class ServedPaths {
 public:
  // Services are added in order, each with its prefixes.
  void add_service(const std::vector<std::string>& prefixes);
  // A service whose paths could not be read: from now on everything is taken to be served.
  void add_unknown_service();

  // True when a path below a prefix of one of `services` (none: of any service) can match the pattern.
  bool can_match(std::string_view pattern, std::span<const std::size_t> services) const;
  const std::vector<std::string>& all() const { return all_; }

 private:
  std::vector<std::vector<std::string>> by_service_;
  std::vector<std::string> all_;  // each once
  std::unordered_set<std::string> known_;
  bool complete_ = true;
};

}  // namespace weir::config
