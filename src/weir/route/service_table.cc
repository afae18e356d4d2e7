// SPDX-License-Identifier: Apache-2.0
#include "weir/route/service_table.h"

#include <array>

namespace weir::route {
namespace {

constexpr std::size_t kMaxName = 255;  // of a DNS name, RFC 1035 section 2.3.4

// Without brackets, port and trailing dot.
std::string_view bare(std::string_view host) {
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  const std::size_t colon = host.find(':');
  if (colon != std::string_view::npos && host.rfind(':') == colon) host = host.substr(0, colon);
  if (host.ends_with('.')) host.remove_suffix(1);
  return host;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

void ServiceTable::add(const config::Service& service, ServiceIndex index) {
  for (const std::string& path : service.paths) {
    if (service.hosts.empty()) add(kAnyHost, path, index);
    for (const std::string& name : service.hosts) {
      std::string key(bare(name));
      for (char& c : key) c = lower(c);
      const auto [root, is_new] = roots_.try_emplace(std::move(key), static_cast<Host>(nodes_.size()));
      if (is_new) nodes_.emplace_back();
      add(root->second, path, index);
    }
  }
}

void ServiceTable::add(Host root, std::string_view path, ServiceIndex index) {
  std::uint32_t at = root;
  for (auto segment = take_segment(path); !segment.empty(); segment = take_segment(path)) {
    const auto next = static_cast<std::uint32_t>(nodes_.size());
    const auto [child, is_new] = nodes_[at].children.try_emplace(normal_segment(segment, reading_), next);
    at = child->second;
    if (is_new) nodes_.emplace_back();
  }
  if (!nodes_[at].service) nodes_[at].service = index;
}

ServiceTable::Host ServiceTable::host(std::string_view host) const {
  const std::string_view name = bare(host);
  if (roots_.empty() || name.size() > kMaxName) return kAnyHost;
  std::array<char, kMaxName> buffer;
  for (std::size_t at = 0; at < name.size(); ++at) buffer[at] = lower(name[at]);
  const auto root = roots_.find(std::string_view(buffer.data(), name.size()));
  return root == roots_.end() ? kAnyHost : root->second;
}

ServiceTable::Prefix ServiceTable::longest(Host root, std::string_view path) const {
  Prefix best{nodes_[root].service, nodes_[root].service ? 0 : -1};
  std::uint32_t at = root;
  for (int depth = 1;; ++depth) {
    const std::string_view segment = take_segment(path);
    const auto child = segment.empty() ? nodes_[at].children.end() : nodes_[at].children.find(segment);
    if (child == nodes_[at].children.end()) return best;
    at = child->second;
    if (nodes_[at].service) best = {nodes_[at].service, depth};
  }
}

std::optional<ServiceIndex> ServiceTable::find(Host host, std::string_view path) const {
  const Prefix any = longest(kAnyHost, path);
  if (host == kAnyHost) return any.service;
  const Prefix named = longest(host, path);
  return any.segments > named.segments ? any.service : named.service;
}

}  // namespace weir::route
