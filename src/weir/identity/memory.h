// SPDX-License-Identifier: Apache-2.0
//
// What one worker remembers for one Identifier: which tokens were good, which were not, and the keys as it last saw
// them. No token is in it, only keyed fingerprints and the claims that somebody asks for.
// Thread safety: the worker's thread; the counters may be read by any.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weir/base/clock.h"
#include "weir/base/counter.h"
#include "weir/base/fingerprint.h"
#include "weir/identity/attributes.h"
#include "weir/identity/key_source.h"
#include "weir/identity/recent.h"
#include "weir/identity/refusal.h"

namespace weir::identity {

// Credentials by what became of them.
struct Counters {
  OwnedCounter remembered;  // tokens that were known to be good
  OwnedCounter verified;    // tokens whose signature was checked and right
  OwnedCounter refused;     // wrong tokens and keys
  OwnedCounter again;       // of those, tokens that were known to be wrong
  OwnedCounter held_off;    // not looked at, because of what came before them
};

struct KnownToken {
  struct Value {
    AttributeId attribute;
    std::string text;
  };
  WallTime until{};
  std::size_t issuer = 0;
  std::uint64_t version = 0;  // of the issuer's keys when the key was last seen among them
  Fingerprint key;            // that has signed it
  std::vector<Value> values;
};

struct RefusedToken {
  WallTime until{};
  std::size_t issuer = 0;
  std::uint64_t version = 0;
  Fault fault = Fault::kNone;
};

struct Memory {
  // By field that may have a token; apart, so that wrong ones never push out good ones.
  struct Field {
    explicit Field(std::size_t room) : known(room), refused(kRefusedRoom) {}

    static constexpr std::size_t kRefusedRoom = 1024;
    Recent<KnownToken> known;
    Recent<RefusedToken> refused;
  };

  FingerprintKey key = FingerprintKey::random();
  std::vector<Field> fields;
  std::vector<KeySource::Snapshot> keys;  // by issuer
  Counters* counters = nullptr;           // not null
};

}  // namespace weir::identity
