// SPDX-License-Identifier: Apache-2.0
#include "weir/identity/token_callers.h"

#include <algorithm>

#include "weir/http/field.h"
#include "weir/jose/key_set.h"
#include "weir/jose/token.h"

namespace weir::identity {
namespace {

constexpr std::size_t kMaxValue = 256;                  // as of all that identifies somebody
constexpr auto kRefusedFor = std::chrono::seconds(10);  // that a wrong token is remembered
constexpr std::size_t kNoIssuer = static_cast<std::size_t>(-1);

Fault fault_of(jose::TokenFault fault) {
  switch (fault) {
    case jose::TokenFault::kMalformed:
      return Fault::kTokenMalformed;
    case jose::TokenFault::kAlgorithm:
      return Fault::kTokenAlgorithm;
    case jose::TokenFault::kCritical:
      return Fault::kTokenCritical;
  }
  return Fault::kTokenMalformed;
}

Fault fault_of(jose::KeySet::Mismatch mismatch) {
  switch (mismatch) {
    case jose::KeySet::Mismatch::kUnknownKey:
      return Fault::kTokenKey;
    case jose::KeySet::Mismatch::kAlgorithm:
      return Fault::kTokenAlgorithm;
    case jose::KeySet::Mismatch::kSignature:
      return Fault::kTokenSignature;
  }
  return Fault::kTokenSignature;
}

// Counts against who sent it.
bool is_failure(Fault fault) { return fault != Fault::kTooLong && fault != Fault::kKeysUnavailable; }

// Will be the same for a while: time mends the one, keys the other.
bool is_lasting(Fault fault) {
  return fault != Fault::kNone && fault != Fault::kTokenEarly && fault != Fault::kKeysUnavailable;
}

// Absent: another scheme, or none.
std::optional<std::string_view> after_bearer(std::string_view value) {
  constexpr std::string_view kScheme = "Bearer";
  if (!http::same_name(value.substr(0, kScheme.size()), kScheme)) return std::nullopt;
  const std::string_view rest = value.substr(kScheme.size());
  if (!rest.empty() && rest[0] != ' ') return std::nullopt;
  return rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
}

}  // namespace

std::optional<std::string_view> token_in(const FieldName& field, std::string_view value) {
  if (value.empty()) return std::nullopt;
  const auto token = after_bearer(value);
  return token || field.id == http::FieldId::kAuthorization ? token : std::optional(value);
}

TokenCallers::TokenCallers(const AttributeNames& names, OpenKeys open) : names_(names), open_(std::move(open)) {
  for (std::size_t id = 0; id < names.size(); ++id) {
    const config::PerAttribute& attribute = names.all()[id];
    if (attribute.source != config::PerAttribute::Source::kClaim) continue;
    counted_.push_back({static_cast<AttributeId>(id), attribute.name});
  }
}

std::pair<std::size_t, bool> TokenCallers::add(const config::JwtCaller& caller) {
  Issuer issuer{.expected = {caller.issuer, caller.audience, caller.type, caller.leeway},
                .algorithms = caller.algorithms,
                .source = {},
                .claims = {}};
  if (!caller.has_url()) {
    issuer.source = std::make_shared<KeySource>(caller.file_keys);
  } else {
    issuer.source = open_ ? open_(caller) : std::make_shared<KeySource>();
  }
  for (const config::ClaimAttribute& one : caller.attributes) {
    if (const auto id = names_.find(one.attribute)) issuer.claims.push_back({*id, one.claim});
  }
  issuer.claims.insert(issuer.claims.end(), counted_.begin(), counted_.end());
  issuers_.push_back(std::move(issuer));

  const auto is_same = [&](const Field& field) { return http::same_name(field.name.text, caller.header); };
  auto field = std::ranges::find_if(fields_, is_same);
  const bool fresh = field == fields_.end();
  if (fresh) {
    field = fields_.insert(field, {FieldName(caller.header), 0, {}});
  }
  field->room = std::max<std::size_t>(field->room, caller.cache);
  field->issuers.push_back(issuers_.size() - 1);
  return {static_cast<std::size_t>(field - fields_.begin()), fresh};
}

void TokenCallers::prepare(Memory& memory) const {
  for (const Field& field : fields_) memory.fields.emplace_back(field.room);
  memory.keys.resize(issuers_.size());
}

Fault TokenCallers::identify(std::size_t field_index, const Occasion& occasion, Attributes& attributes) const {
  const Field& field = fields_[field_index];
  const Single found = find_field(occasion.request, field.name);
  if (found.twice) return Fault::kTwice;
  const auto text = token_in(field.name, found.value);
  if (!text) return Fault::kNone;
  const Sight sight{field, *text, fingerprint(occasion.memory.key, *text), occasion.memory.fields[field_index]};
  const KnownToken* known = find_known(sight, occasion);
  if (known == nullptr) {
    const auto checked = check(sight, occasion);
    if (!checked) return checked.error();
    known = *checked;
  }
  for (const KnownToken::Value& value : known->values) attributes.set_if_absent(value.attribute, value.text);
  return Fault::kNone;
}

// A token that is not known to be good.
std::expected<const KnownToken*, Fault> TokenCallers::check(const Sight& sight, const Occasion& occasion) const {
  if (occasion.suspect.is_held_off()) return std::unexpected(Fault::kTooManyFailures);
  const auto refuse = [&](Fault fault) {
    return std::unexpected(is_failure(fault) ? occasion.suspect.failed(fault) : fault);
  };
  if (const RefusedToken* refused = find_refused(sight, occasion)) {
    occasion.memory.counters->again.add();
    return refuse(refused->fault);
  }
  KnownToken fresh;
  fresh.issuer = kNoIssuer;
  const Fault fault = examine(sight, occasion, fresh);
  if (is_lasting(fault)) {
    sight.seen.refused.put(sight.print, {occasion.now + kRefusedFor, fresh.issuer, fresh.version, fault});
  }
  if (fault != Fault::kNone) return refuse(fault);
  occasion.memory.counters->verified.add();
  return &sight.seen.known.put(sight.print, std::move(fresh));
}

// What the token says of its issuer is not believed: it picks whose keys have to verify it.
std::optional<std::size_t> TokenCallers::pick_issuer(const Field& field, const jose::Token& token) const {
  if (field.issuers.size() == 1) return field.issuers.front();
  const std::string_view named = issuer_of(token);
  for (const std::size_t issuer : field.issuers) {
    if (issuers_[issuer].expected.issuer == named) return issuer;
  }
  return std::nullopt;
}

const KeySource::Snapshot& TokenCallers::keys_of(std::size_t issuer, Memory& memory) const {
  KeySource::Snapshot& seen = memory.keys[issuer];
  const KeySource& source = *issuers_[issuer].source;
  if (source.version() != seen.version) seen = source.snapshot();
  return seen;
}

const KnownToken* TokenCallers::find_known(const Sight& sight, const Occasion& occasion) const {
  KnownToken* known = sight.seen.known.find(sight.print);
  if (known == nullptr) return nullptr;
  const KeySource::Snapshot& now = keys_of(known->issuer, occasion.memory);
  const bool counts = known->version == now.version || now.keys->contains(known->key);
  if (!counts || occasion.now >= known->until) {
    sight.seen.known.erase(sight.print);
    return nullptr;
  }
  known->version = now.version;
  occasion.memory.counters->remembered.add();
  return known;
}

const RefusedToken* TokenCallers::find_refused(const Sight& sight, const Occasion& occasion) const {
  const RefusedToken* refused = sight.seen.refused.find(sight.print);
  if (refused == nullptr || occasion.now >= refused->until) return nullptr;
  const bool same_keys =
      refused->issuer == kNoIssuer || keys_of(refused->issuer, occasion.memory).version == refused->version;
  return same_keys ? refused : nullptr;
}

// The signature last: what costs nothing is checked before it.
Fault TokenCallers::examine(const Sight& sight, const Occasion& occasion, KnownToken& out) const {
  const auto token = jose::parse_token(sight.text);
  if (!token) return fault_of(token.error());
  const auto picked = pick_issuer(sight.field, *token);
  if (!picked) return Fault::kTokenIssuer;
  const Issuer& issuer = issuers_[*picked];
  out.issuer = *picked;
  out.version = keys_of(*picked, occasion.memory).version;
  const auto until = check_claims(*token, issuer.expected, occasion.now);
  if (!until) return until.error();
  if (!issuer.algorithms.contains(token->algorithm)) return Fault::kTokenAlgorithm;
  out.until = *until;
  const Fault fault = check_signature(*token, occasion, out);
  return fault == Fault::kNone ? take_claims(*token, out) : fault;
}

Fault TokenCallers::check_signature(const jose::Token& token, const Occasion& occasion, KnownToken& out) const {
  const KeySource::Snapshot& seen = keys_of(out.issuer, occasion.memory);
  if (seen.keys == nullptr) return Fault::kKeysUnavailable;
  const auto signer = seen.keys->signer_of(token);
  if (!signer) {
    if (signer.error() == jose::KeySet::Mismatch::kUnknownKey) issuers_[out.issuer].source->miss();
    return fault_of(signer.error());
  }
  out.version = seen.version;
  out.key = (*signer)->identity();
  return Fault::kNone;
}

Fault TokenCallers::take_claims(const jose::Token& token, KnownToken& out) const {
  for (const Claim& claim : issuers_[out.issuer].claims) {
    std::string text = claim_text(token, claim.name);
    if (text.size() > kMaxValue) return Fault::kTooLong;
    if (!text.empty()) out.values.push_back({claim.attribute, std::move(text)});
  }
  return Fault::kNone;
}

}  // namespace weir::identity
