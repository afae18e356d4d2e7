// SPDX-License-Identifier: Apache-2.0
//
// Callers that are known by a signed token. Of a token that was seen before nothing is checked again but its time and
// that its key still counts: a look-up. Thread safety: immutable after the callers were added.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/config/config.h"
#include "weir/http/message.h"
#include "weir/identity/attributes.h"
#include "weir/identity/gate.h"
#include "weir/identity/key_source.h"
#include "weir/identity/memory.h"
#include "weir/identity/sources.h"
#include "weir/identity/token_claims.h"

namespace weir::identity {

// The keys at a caller's URL, from whoever fetches them.
using OpenKeys = std::function<std::shared_ptr<KeySource>(const config::JwtCaller&)>;

// The token in the value of a field: in Authorization behind `Bearer`, elsewhere with or without it. Absent: there is
// nothing that is ours. Empty: the scheme is, but there is no token.
std::optional<std::string_view> token_in(const FieldName& field, std::string_view value);

class TokenCallers {
 public:
  // Claims that limits count by are taken from every token. `open`: may be empty where no caller has a URL; then
  // there never are any keys.
  TokenCallers(const AttributeNames& names, OpenKeys open);

  // The number of its field, and whether the field is new.
  std::pair<std::size_t, bool> add(const config::JwtCaller& caller);
  void prepare(Memory& memory) const;

  struct Occasion {
    const http::RequestHead& request;
    WallTime now;
    Memory& memory;
    Suspect suspect;
  };
  // Sets what the token in the field yields, as views into the memory that stay valid until the next request.
  Fault identify(std::size_t field_index, const Occasion& occasion, Attributes& attributes) const;

 private:
  struct Claim {
    AttributeId attribute;
    std::string name;
  };
  struct Issuer {
    Expectation expected;
    jose::Algorithms algorithms;
    std::shared_ptr<KeySource> source;
    std::vector<Claim> claims;
  };
  struct Field {
    FieldName name;
    std::size_t room;                  // of good tokens
    std::vector<std::size_t> issuers;  // in issuers_
  };

  // A token, where it stands and what is remembered there.
  struct Sight {
    const Field& field;
    std::string_view text;
    Fingerprint print;
    Memory::Field& seen;
  };

  std::optional<std::size_t> pick_issuer(const Field& field, const jose::Token& token) const;
  const KeySource::Snapshot& keys_of(std::size_t issuer, Memory& memory) const;
  const KnownToken* find_known(const Sight& sight, const Occasion& occasion) const;
  const RefusedToken* find_refused(const Sight& sight, const Occasion& occasion) const;
  std::expected<const KnownToken*, Fault> check(const Sight& sight, const Occasion& occasion) const;
  Fault examine(const Sight& sight, const Occasion& occasion, KnownToken& out) const;
  Fault check_signature(const jose::Token& token, const Occasion& occasion, KnownToken& out) const;
  Fault take_claims(const jose::Token& token, KnownToken& out) const;

  const AttributeNames& names_;
  OpenKeys open_;
  std::vector<Claim> counted_;  // claim: sources
  std::vector<Issuer> issuers_;
  std::vector<Field> fields_;
};

}  // namespace weir::identity
