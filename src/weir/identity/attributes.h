// SPDX-License-Identifier: Apache-2.0
//
// What a request tells about who sends it, as named values. Names become small numbers when a configuration is
// compiled; a request's values are views into its bytes, its connection, or the configuration.
// Thread safety: AttributeNames is immutable after compilation; Attributes belong to one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/config/config.h"

namespace weir::identity {

using AttributeId = std::uint16_t;

// These exist in every configuration, with these ids.
enum StandardAttribute : AttributeId {
  kPartner,
  kUser,
  kPlan,
  kKey,      // a short fingerprint of the API key, never the key
  kAddress,  // client address after trusted_proxies and ipv6_prefix; "unix" for a Unix socket
  kService,
  kEndpoint,
  kMethod,
  kStandardCount,
};

// All attributes that a configuration can yield: the standard ones, those that callers name, and the header:, query:,
// cookie: and claim: sources that limits count by.
class AttributeNames {
 public:
  explicit AttributeNames(const config::Config& config);

  std::optional<AttributeId> find(const config::PerAttribute& attribute) const;
  std::optional<AttributeId> find(std::string_view attribute_name) const;
  const std::vector<config::PerAttribute>& all() const { return all_; }  // index: AttributeId
  std::size_t size() const { return all_.size(); }

 private:
  std::vector<config::PerAttribute> all_;
};

// The values of one request. Absent and empty are the same: an empty value identifies nobody.
class Attributes {
 public:
  void reset(std::size_t size) { values_.assign(size, {}); }
  std::string_view get(AttributeId id) const { return values_[id]; }
  bool has(AttributeId id) const { return !values_[id].empty(); }
  void set(AttributeId id, std::string_view value) { values_[id] = value; }
  // What an earlier caller of the configuration said stays.
  void set_if_absent(AttributeId id, std::string_view value) {
    if (!has(id)) set(id, value);
  }

 private:
  std::vector<std::string_view> values_;
};

}  // namespace weir::identity
