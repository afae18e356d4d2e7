// SPDX-License-Identifier: Apache-2.0
#include "weir/config/served_paths.h"

#include <algorithm>

namespace weir::config {
namespace {

// Takes the first segment off a path such as "/a/b"; "" at the end.
std::string_view next_segment(std::string_view& path) {
  path.remove_prefix(std::min<std::size_t>(1, path.size()));
  const std::size_t end = std::min(path.find('/'), path.size());
  const std::string_view segment = path.substr(0, end);
  path.remove_prefix(end);
  return segment;
}

bool can_match_below(std::string_view pattern, std::string_view prefix) {
  if (prefix == "/") return true;
  while (!prefix.empty()) {
    const std::string_view wanted = next_segment(prefix);
    if (pattern.empty()) return false;
    const std::string_view offered = next_segment(pattern);
    if (offered == "*") return true;
    if (!offered.starts_with('{') && offered != wanted) return false;
  }
  return true;
}

}  // namespace

void ServedPaths::add_service(const std::vector<std::string>& prefixes) {
  by_service_.push_back(prefixes);
  for (const std::string& prefix : prefixes) {
    if (known_.insert(prefix).second) all_.push_back(prefix);
  }
}

void ServedPaths::add_unknown_service() {
  by_service_.emplace_back();
  complete_ = false;
}

bool ServedPaths::can_match(std::string_view pattern, std::span<const std::size_t> services) const {
  if (!complete_ || all_.empty()) return true;
  const auto below = [&](const std::string& prefix) { return can_match_below(pattern, prefix); };
  if (!services.empty()) {
    return std::ranges::any_of(services, [&](std::size_t i) {
      return i >= by_service_.size() || std::ranges::any_of(by_service_[i], below);
    });
  }
  // Most patterns are literal up to a prefix that is served: look that up instead of trying all services.
  if (known_.contains("/")) return true;
  const std::string literal(pattern.substr(0, pattern.find_first_of("{*")));
  for (std::size_t end = literal.size(); end > 0 && end != literal.npos; end = literal.rfind('/', end - 1)) {
    if (known_.contains(literal.substr(0, end))) return true;
  }
  return literal.size() < pattern.size() && std::ranges::any_of(all_, below);
}

}  // namespace weir::config
