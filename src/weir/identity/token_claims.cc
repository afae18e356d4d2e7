// SPDX-License-Identifier: Apache-2.0
#include "weir/identity/token_claims.h"

#include <jansson.h>

#include <algorithm>
#include <optional>

#include "weir/http/field.h"

namespace weir::identity {
namespace {

using Seconds = long double;  // holds every 64-bit integer

constexpr Seconds kNanoseconds = 1e9L;

Seconds seconds_of(nanoseconds time) { return static_cast<Seconds>(time.count()) / kNanoseconds; }

// False: it is there, but is no number.
bool take_time(const json_t* claims, const char* name, std::optional<Seconds>& out) {
  const json_t* value = json_object_get(claims, name);
  if (value == nullptr) return true;
  if (json_is_integer(value)) {
    out = static_cast<Seconds>(json_integer_value(value));
  } else if (json_is_real(value)) {
    out = static_cast<Seconds>(json_real_value(value));
  }
  return out.has_value();
}

WallTime wall_time(Seconds seconds) {
  constexpr Seconds kMost = 9.2e9L;
  if (seconds >= kMost) return WallTime::max();
  return WallTime(nanoseconds(static_cast<nanoseconds::rep>(std::max(seconds, -kMost) * kNanoseconds)));
}

std::expected<WallTime, Fault> check_times(const json_t* claims, nanoseconds leeway_time, WallTime wall) {
  std::optional<Seconds> expires, not_before, issued;
  if (!take_time(claims, "exp", expires) || !take_time(claims, "nbf", not_before) ||
      !take_time(claims, "iat", issued) || !expires) {
    return std::unexpected(Fault::kTokenMalformed);
  }
  const Seconds now = seconds_of(wall.time_since_epoch());
  const Seconds leeway = seconds_of(leeway_time);
  if (now >= *expires + leeway) return std::unexpected(Fault::kTokenExpired);
  if (std::max(not_before.value_or(now), issued.value_or(now)) > now + leeway) {
    return std::unexpected(Fault::kTokenEarly);
  }
  return wall_time(*expires + leeway);
}

bool is_text(const json_t* value, std::string_view text) {
  return json_is_string(value) && std::string_view(json_string_value(value), json_string_length(value)) == text;
}

Fault check_audience(const json_t* claims, std::string_view audience) {
  const json_t* value = json_object_get(claims, "aud");
  if (value == nullptr) return Fault::kTokenAudience;
  if (json_is_string(value)) return is_text(value, audience) ? Fault::kNone : Fault::kTokenAudience;
  bool found = false;
  for (std::size_t i = 0; i < json_array_size(value); ++i) {
    const bool is_string = json_is_string(json_array_get(value, i));
    if (!is_string) return Fault::kTokenMalformed;
    found |= is_text(json_array_get(value, i), audience);
  }
  const bool is_list = json_is_array(value);
  if (!is_list) return Fault::kTokenMalformed;
  return found ? Fault::kNone : Fault::kTokenAudience;
}

// A media type, which may lack "application/" (RFC 7515 section 4.1.9).
std::string_view short_type(std::string_view type) {
  constexpr std::string_view kPrefix = "application/";
  if (type.size() > kPrefix.size() && http::same_name(type.substr(0, kPrefix.size()), kPrefix)) {
    type.remove_prefix(kPrefix.size());
  }
  return type;
}

bool is_of_type(const std::optional<std::string>& type, std::string_view wanted) {
  const std::string_view found = type ? short_type(*type) : std::string_view();
  if (!wanted.empty()) return type && http::same_name(found, short_type(wanted));
  return !type || http::same_name(found, "JWT") || http::same_name(found, "at+jwt");
}

const json_t* find_claim(const json_t* claims, std::string_view name) {
  if (const json_t* whole = json_object_getn(claims, name.data(), name.size())) return whole;
  while (claims != nullptr && !name.empty()) {
    const std::string_view step = name.substr(0, name.find('.'));
    claims = json_object_getn(claims, step.data(), step.size());
    name.remove_prefix(std::min(name.size(), step.size() + 1));
  }
  return claims;
}

}  // namespace

std::expected<WallTime, Fault> check_claims(const jose::Token& token, const Expectation& expected, WallTime now) {
  const json_t* claims = token.claims.get();
  if (!is_of_type(token.type, expected.type)) return std::unexpected(Fault::kTokenType);
  if (!expected.issuer.empty() && issuer_of(token) != expected.issuer) return std::unexpected(Fault::kTokenIssuer);
  if (!expected.audience.empty()) {
    if (const Fault fault = check_audience(claims, expected.audience); fault != Fault::kNone) {
      return std::unexpected(fault);
    }
  }
  return check_times(claims, expected.leeway, now);
}

std::string_view issuer_of(const jose::Token& token) {
  return jose::text_member(token.claims.get(), "iss").value_or("");
}

std::string claim_text(const jose::Token& token, std::string_view name) {
  const json_t* value = find_claim(token.claims.get(), name);
  if (json_is_string(value)) return {json_string_value(value), json_string_length(value)};
  if (json_is_integer(value)) return std::to_string(json_integer_value(value));
  if (json_is_boolean(value)) return json_is_true(value) ? "true" : "false";
  return {};
}

}  // namespace weir::identity
