// SPDX-License-Identifier: Apache-2.0
#include "weir/identity/refusal.h"

#include <algorithm>
#include <variant>

namespace weir::identity {
namespace {

struct Words {
  int status;
  std::string_view code;
  std::string_view detail;
};

constexpr std::size_t kFaults = static_cast<std::size_t>(Fault::kCount);

constexpr std::array<Words, kFaults> kWords{{
    {200, "", ""},
    {401, "unknown-key", "The API key is not known."},
    {401, "unidentified", "The request does not say who sends it."},
    {400, "identity-twice", "A value that identifies the caller is given more than once."},
    {400, "identity-too-long", "A value that identifies the caller is longer than 256 bytes."},
    {429, "too-many-failures", "Too many keys or tokens from this address were wrong."},
    {503, "keys-unavailable", "The keys that tokens are checked with are not there yet."},
    {401, "token-malformed", "The token cannot be read."},
    {401, "token-algorithm", "The token is signed by an algorithm that is not taken."},
    {401, "token-critical", "The token wants something understood that is not."},
    {401, "token-key", "The key that the token is signed with is not known."},
    {401, "token-signature", "The signature of the token is wrong."},
    {401, "token-expired", "The token has expired."},
    {401, "token-early", "The token is not valid yet."},
    {401, "token-issuer", "The token is from an issuer that is not taken."},
    {401, "token-audience", "The token is for somebody else."},
    {401, "token-type", "The token is of a type that is not taken."},
    {503, "", ""},
    {503, "owners-unavailable", "Whose key this is cannot be found out at the moment."},
}};

constexpr std::string_view kApiKey = "WWW-Authenticate: ApiKey realm=\"weir\"\r\n";
constexpr std::string_view kBearer = "WWW-Authenticate: Bearer realm=\"weir\"";

template <class Kind>
bool has(const config::Config& config) {
  return std::ranges::any_of(config.callers, [](const auto& caller) { return std::holds_alternative<Kind>(caller); });
}

// An answer 401 has one at least (RFC 9110 section 15.5.2).
std::string challenges_of(const config::Config& config) {
  std::string fields;
  const bool tokens = has<config::JwtCaller>(config);
  if (tokens) fields += std::string(kBearer) + "\r\n";
  if (has<config::ApiKeyCaller>(config) || !tokens) fields += kApiKey;
  return fields;
}

// RFC 6750 section 3.
std::string invalid_token(std::string_view detail) {
  return std::string(kBearer) + ", error=\"invalid_token\", error_description=\"" + std::string(detail) + "\"\r\n";
}

}  // namespace

Refusals::Refusals(const config::Config& config) {
  const auto fields = [this](Fault fault) -> std::string& { return fields_[static_cast<std::size_t>(fault)]; };
  for (std::size_t i = 0; i < kFaults; ++i) {
    if (kWords[i].status == 401 && kWords[i].code.starts_with("token-")) fields_[i] = invalid_token(kWords[i].detail);
  }
  fields(Fault::kUnknownKey) = kApiKey;
  fields(Fault::kNobody) = challenges_of(config);
  fields(Fault::kKeysUnavailable) = "Retry-After: 5\r\n";
  fields(Fault::kOwnersAway) = "Retry-After: 1\r\n";
}

Refusal Refusals::of(Fault fault) const {
  const auto index = static_cast<std::size_t>(fault);
  const Words& words = kWords[index];
  return {words.status, words.code, words.detail, fields_[index]};
}

}  // namespace weir::identity
