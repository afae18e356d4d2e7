// SPDX-License-Identifier: Apache-2.0
//
// API keys of the configuration and whom they belong to. Keys are found by a keyed fingerprint, so how long a
// look-up takes says nothing about how much of a guess was right, and no clear key is kept.
// Thread safety: immutable.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "weir/base/fingerprint.h"
#include "weir/config/config.h"

namespace weir::identity {

class ApiKeys {
 public:
  struct Owner {
    std::string partner;
    std::string plan;  // empty: none
    std::string
        fingerprint;  // names the key without telling it; the same for a key and for its SHA-256, in every process
  };

  // Of the same key twice the first entry counts.
  explicit ApiKeys(const std::vector<config::ApiKey>& keys);

  // Null when nobody owns the key. Computes a SHA-256 only if some keys are configured that way and no clear one
  // matches.
  const Owner* find(std::string_view key) const;

 private:
  struct LowWord {
    std::size_t operator()(const Fingerprint& print) const { return print.low; }
  };
  using Index = std::unordered_map<Fingerprint, std::size_t, LowWord>;

  const Owner* find(const Index& index, std::string_view text) const;

  FingerprintKey key_ = FingerprintKey::random();
  std::vector<Owner> owners_;
  Index by_key_;
  Index by_digest_;  // apart, so that nobody gets in with the digest itself
};

}  // namespace weir::identity
