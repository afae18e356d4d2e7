// SPDX-License-Identifier: Apache-2.0
//
// Which service a host and a path belong to: the service with the longest path prefix, by whole segments, among those
// that serve this host; between equally long ones a service that names the host wins over one for every host.
// Thread safety: immutable after the last add.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "weir/config/config.h"
#include "weir/route/path.h"
#include "weir/route/pattern_tree.h"

namespace weir::route {

using ServiceIndex = std::uint32_t;  // in Config::services

class ServiceTable {
 public:
  explicit ServiceTable(Reading reading) : reading_(reading), nodes_(1) {}

  // Of two services with the same host and path the first one stays.
  void add(const config::Service& service, ServiceIndex index);

  // A host as far as this table cares: the tree of the services that name it, if any.
  using Host = std::uint32_t;
  // `host` as in the Host field: port, trailing dot, case and brackets do not matter.
  Host host(std::string_view host) const;

  // `path` is in normal form or ordinary.
  std::optional<ServiceIndex> find(Host host, std::string_view path) const;

 private:
  struct Node {
    TextMap<std::uint32_t> children;
    std::optional<ServiceIndex> service;
  };
  struct Prefix {
    std::optional<ServiceIndex> service;
    int segments = -1;
  };
  static constexpr Host kAnyHost = 0;  // the root of the services for every host

  void add(Host root, std::string_view path, ServiceIndex index);
  Prefix longest(Host root, std::string_view path) const;

  Reading reading_;
  std::vector<Node> nodes_;
  TextMap<Host> roots_;
};

}  // namespace weir::route
