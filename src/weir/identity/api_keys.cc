// SPDX-License-Identifier: Apache-2.0
#include "weir/identity/api_keys.h"

#include "weir/base/sha256.h"

namespace weir::identity {
namespace {

std::string_view bytes_of(const Sha256& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// Hashed once more under a label, so that what logs and counters show is no part of the configured digest.
std::string public_fingerprint(const Sha256& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr std::size_t kBytes = 8;
  const Sha256 labelled = sha256("weir api key " + std::string(bytes_of(digest)));
  std::string text;
  for (std::size_t at = 0; at < kBytes; ++at) text += {kDigits[labelled[at] >> 4], kDigits[labelled[at] & 15]};
  return text;
}

}  // namespace

ApiKeys::ApiKeys(const std::vector<config::ApiKey>& keys) {
  for (const config::ApiKey& key : keys) {
    const auto* clear = std::get_if<std::string>(&key.key);
    const Sha256 digest = clear ? sha256(*clear) : std::get<Sha256>(key.key);
    const Fingerprint print = fingerprint(key_, clear ? std::string_view(*clear) : bytes_of(digest));
    (clear ? by_key_ : by_digest_).try_emplace(print, owners_.size());
    owners_.push_back({key.partner, key.plan.value_or(""), public_fingerprint(digest)});
  }
}

const ApiKeys::Owner* ApiKeys::find(std::string_view key) const {
  const Owner* owner = find(by_key_, key);
  if (owner || by_digest_.empty()) return owner;
  return find(by_digest_, bytes_of(sha256(key)));
}

const ApiKeys::Owner* ApiKeys::find(const Index& index, std::string_view text) const {
  const auto found = index.find(fingerprint(key_, text));
  return found == index.end() ? nullptr : &owners_[found->second];
}

}  // namespace weir::identity
