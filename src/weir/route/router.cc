// SPDX-License-Identifier: Apache-2.0
#include "weir/route/router.h"

#include <algorithm>
#include <numeric>
#include <ranges>

namespace weir::route {
namespace {

std::string pattern_key(const config::EndpointPattern& pattern) { return pattern.method + ' ' + pattern.path; }

bool takes_method(std::string_view pattern, std::string_view method) {
  return pattern == method || pattern == "*" || (pattern == "GET" && method == "HEAD");
}

}  // namespace

Router::Router(const config::Config& config) {
  for (ServiceIndex index = 0; index < config.services.size(); ++index) {
    plain_.services.add(config.services[index], index);
    decoded_.services.add(config.services[index], index);
  }
  add_patterns(config);
  rank_patterns();
}

void Router::add_patterns(const config::Config& config) {
  for (const config::Limit& limit : config.limits) {
    for (const config::EndpointPattern& pattern : limit.match) {
      const auto index = static_cast<PatternIndex>(patterns_.size());
      const auto [known, is_new] = pattern_by_key_.try_emplace(pattern_key(pattern), index);
      if (is_new) enforced_.push_back(false);
      if (limit.mode == config::Mode::kEnforce) enforced_[known->second] = true;
      if (!is_new) continue;
      patterns_.push_back(pattern);
      plain_.patterns.add(pattern.path, index);
      decoded_.patterns.add(pattern.path, index);
    }
  }
}

void Router::rank_patterns() {
  std::vector<std::string> texts;
  for (const auto& pattern : patterns_) texts.push_back(specificity(pattern.method, pattern.path));
  std::vector<PatternIndex> order(patterns_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(
      order, [&](PatternIndex a, PatternIndex b) { return texts[a] != texts[b] ? texts[a] > texts[b] : a < b; });
  ranks_.resize(order.size());
  for (std::uint32_t rank = 0; rank < order.size(); ++rank) ranks_[order[rank]] = rank;
}

PatternIndex Router::pattern_index(const config::EndpointPattern& pattern) const {
  const auto found = pattern_by_key_.find(pattern_key(pattern));
  return found == pattern_by_key_.end() ? Route::kNoEndpoint : found->second;
}

RouteStatus Router::find(std::string_view host, std::string_view path, std::string_view method, Route& route) const {
  const Request request{plain_.services.host(host), path, method};
  if (path == "*") return find_ordinary(request, path, route);
  if (!path.starts_with('/')) return RouteStatus::kBadPath;
  const Inspection seen = inspect(path);
  if (seen.shape == PathShape::kBad) return RouteStatus::kBadPath;
  if (seen.shape == PathShape::kOrdinary && seen.doubts == kPlain) return find_ordinary(request, path, route);
  return find_unusual(request, seen.doubts, route);
}

// The service of a path in normal form, and all patterns that match it, ascending.
std::optional<ServiceIndex> Router::match(const Tables& tables, const Request& request, std::string_view normal,
                                          std::vector<PatternIndex>& patterns) const {
  patterns.clear();
  if (normal == "*") return tables.services.find(request.host, "/");
  const auto service = tables.services.find(request.host, normal);
  if (!service || patterns_.empty()) return service;
  tables.patterns.match(normal, patterns);
  std::erase_if(patterns, [&](PatternIndex p) { return !takes_method(patterns_[p].method, request.method); });
  std::sort(patterns.begin(), patterns.end());
  return service;
}

RouteStatus Router::find_ordinary(const Request& request, std::string_view normal, Route& route) const {
  const auto service = match(plain_, request, normal, route.patterns);
  if (!service) return RouteStatus::kNoService;
  route.service = *service;
  choose_endpoints(route);
  return RouteStatus::kFound;
}

void Router::choose_endpoints(Route& route) const {
  route.endpoint = route.shadow_endpoint = Route::kNoEndpoint;
  const auto improve = [&](PatternIndex& best, PatternIndex pattern) {
    if (best == Route::kNoEndpoint || ranks_[pattern] < ranks_[best]) best = pattern;
  };
  for (const PatternIndex pattern : route.patterns) {
    improve(route.shadow_endpoint, pattern);
    if (enforced_[pattern]) improve(route.endpoint, pattern);
  }
}

RouteStatus Router::find_unusual(const Request& request, Reading doubts, Route& route) const {
  Route::Scratch& scratch = route.scratch;
  if (!normalise(request.path, kPlain, scratch.normal)) return RouteStatus::kBadPath;
  const RouteStatus status = find_ordinary(request, scratch.normal, route);
  if (doubts & kDecoded) {
    if (!decode_fully(request.path, scratch.decoded)) return RouteStatus::kAmbiguous;
    doubts |= doubts_of_decoded(scratch.decoded);
  }
  // Every subset of the liberties that matter.
  for (unsigned subset = doubts; subset != 0; subset = (subset - 1) & doubts) {
    if (!agrees(request, static_cast<Reading>(subset), status, route)) return RouteStatus::kAmbiguous;
  }
  return status;
}

// True when a reading sends the request where the plain one does. Requires: scratch.decoded is written when the
// reading is kDecoded.
bool Router::agrees(const Request& request, Reading reading, RouteStatus status, Route& route) const {
  Route::Scratch& scratch = route.scratch;
  const std::string_view path = reading & kDecoded ? std::string_view(scratch.decoded) : request.path;
  if (!normalise(path, reading, scratch.normal)) return false;
  const auto service = match(tables(reading), request, scratch.normal, scratch.patterns);
  if (!service) return status == RouteStatus::kNoService;
  const auto enforced = std::views::filter([&](PatternIndex pattern) { return enforced_[pattern]; });
  return status == RouteStatus::kFound && *service == route.service &&
         std::ranges::equal(scratch.patterns | enforced, route.patterns | enforced);
}

}  // namespace weir::route
