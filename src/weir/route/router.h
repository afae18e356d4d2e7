// SPDX-License-Identifier: Apache-2.0
//
// Where a request goes: host and path choose the service, method and path choose the endpoint patterns that
// limits name. Matching works on a normalised copy of the path (unreserved %XX decoded once, `//` merged, dot
// segments resolved, RFC 3986 section 6.2.2); what is forwarded are the client's bytes. A path that other
// plausible readings (%2F or %5C as a separator, `;x` cut off, decoded more than once) would send elsewhere is
// ambiguous. Upper and lower case differ; a slash at the end makes no difference. Patterns that only shadow limits
// name change nothing for anybody else: neither endpoints nor what is ambiguous.
// Thread safety: a Router is immutable; a Route belongs to one thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/base/result.h"
#include "weir/config/config.h"
#include "weir/route/pattern_tree.h"
#include "weir/route/service_table.h"

namespace weir::route {

enum class RouteStatus : std::uint8_t {
  kFound,
  kNoService,  // 404
  kBadPath,    // 400: `..` above the root, %00-%1F, %7F, or a `%` without two hex digits
  kAmbiguous,  // 400: readings differ
};

// Where one request goes. Reused from request to request so that its vectors keep their memory.
struct Route {
  static constexpr PatternIndex kNoEndpoint = UINT32_MAX;

  ServiceIndex service = 0;
  PatternIndex endpoint = kNoEndpoint;         // the most specific of `patterns` that an enforced limit names
  PatternIndex shadow_endpoint = kNoEndpoint;  // the most specific of them all: what shadow limits go by
  std::vector<PatternIndex> patterns;          // all that match, ascending

  // Room for paths that are not ordinary, and for what their other readings match.
  struct Scratch {
    std::string normal;
    std::string decoded;
    std::vector<PatternIndex> patterns;
  };
  Scratch scratch;
};

class Router {
 public:
  explicit Router(const config::Config& config);

  // `host` as in the Host field (port, trailing dot and case do not matter), `path` raw and starting with '/',
  // or "*", which is the root for choosing a service and matches no pattern. HEAD matches patterns of GET too. Writes
  // `route` when kFound; otherwise its content is unspecified. No allocation for ordinary paths.
  RouteStatus find(std::string_view host, std::string_view path, std::string_view method, Route& route) const;

  // Every different `match` (method and path) of the configuration, in order of first appearance.
  const std::vector<config::EndpointPattern>& patterns() const { return patterns_; }
  // Of each of them; the smallest is the most specific.
  const std::vector<std::uint32_t>& ranks() const { return ranks_; }
  // The index of a pattern that the configuration names; Route::kNoEndpoint for any other.
  PatternIndex pattern_index(const config::EndpointPattern& pattern) const;

 private:
  struct Tables {
    explicit Tables(Reading reading) : services(reading), patterns(reading) {}
    ServiceTable services;
    PatternTree patterns;
  };
  struct Request {
    ServiceTable::Host host;
    std::string_view path;
    std::string_view method;
  };

  void add_patterns(const config::Config& config);
  void rank_patterns();
  const Tables& tables(Reading reading) const { return reading & kDecoded ? decoded_ : plain_; }
  std::optional<ServiceIndex> match(const Tables& tables, const Request& request, std::string_view normal,
                                    std::vector<PatternIndex>& patterns) const;
  RouteStatus find_ordinary(const Request& request, std::string_view normal, Route& route) const;
  RouteStatus find_unusual(const Request& request, Reading doubts, Route& route) const;
  bool agrees(const Request& request, Reading reading, RouteStatus status, Route& route) const;
  void choose_endpoints(Route& route) const;

  std::vector<config::EndpointPattern> patterns_;
  std::vector<std::uint32_t> ranks_;  // of each pattern; the smallest is the most specific
  std::vector<bool> enforced_;        // of each pattern: an enforced limit names it
  TextMap<PatternIndex> pattern_by_key_;
  Tables plain_{kPlain};
  Tables decoded_{kDecoded};
};

}  // namespace weir::route
