// SPDX-License-Identifier: Apache-2.0
#include "weir/jose/token.h"

#include <algorithm>

namespace weir::jose {
namespace {

struct Parts {
  std::string_view header, payload, signature, signed_part;
};

std::optional<Parts> split(std::string_view text) {
  if (text.size() > Token::kLongest || std::ranges::count(text, '.') != 2) return std::nullopt;
  const std::size_t first = text.find('.');
  const std::size_t second = text.find('.', first + 1);
  return Parts{.header = text.substr(0, first),
               .payload = text.substr(first + 1, second - first - 1),
               .signature = text.substr(second + 1),
               .signed_part = text.substr(0, second)};
}

Json read_part(std::string_view part) {
  const auto text = decode_base64url(part);
  return text ? read_object(*text) : nullptr;
}

// False: the member is there, but is no text.
bool take_text(const json_t* header, const char* name, std::optional<std::string>& out) {
  const auto text = text_member(header, name);
  if (text) out = *text;
  return text || json_object_get(header, name) == nullptr;
}

bool has_extensions(const json_t* header) {
  const json_t* encoded = json_object_get(header, "b64");
  const bool usual = json_is_true(encoded);
  return json_object_get(header, "crit") != nullptr || (encoded != nullptr && !usual);
}

}  // namespace

std::expected<Token, TokenFault> parse_token(std::string_view text) {
  const auto parts = split(text);
  if (!parts) return std::unexpected(TokenFault::kMalformed);
  const Json header = read_part(parts->header);
  Token token;
  const auto name = text_member(header.get(), "alg");
  if (!header || !name || !take_text(header.get(), "kid", token.kid) || !take_text(header.get(), "typ", token.type)) {
    return std::unexpected(TokenFault::kMalformed);
  }
  if (has_extensions(header.get())) return std::unexpected(TokenFault::kCritical);
  const auto algorithm = algorithm_named(*name);
  if (!algorithm) return std::unexpected(TokenFault::kAlgorithm);
  token.algorithm = *algorithm;
  token.claims = read_part(parts->payload);
  auto signature = decode_base64url(parts->signature);
  if (!token.claims || !signature) return std::unexpected(TokenFault::kMalformed);
  token.signature = *std::move(signature);
  token.signed_part = parts->signed_part;
  return token;
}

}  // namespace weir::jose
