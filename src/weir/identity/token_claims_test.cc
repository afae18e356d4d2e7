// SPDX-License-Identifier: Apache-2.0
#include "weir/identity/token_claims.h"

#include <gtest/gtest.h>

#include <chrono>

namespace weir::identity {
namespace {

constexpr WallTime kNow{std::chrono::seconds(1'800'000'000)};
const Expectation kAnybody{.issuer = {}, .audience = {}, .type = {}, .leeway = std::chrono::seconds(30)};

jose::Token token_with(std::string_view claims, std::optional<std::string> type = std::nullopt) {
  jose::Token token;
  token.claims = jose::read_object(claims);
  EXPECT_TRUE(token.claims) << claims;
  token.type = std::move(type);
  return token;
}

Fault check(std::string_view claims, const Expectation& expected = kAnybody,
            std::optional<std::string> type = std::nullopt) {
  const auto until = check_claims(token_with(claims, std::move(type)), expected, kNow);
  return until ? Fault::kNone : until.error();
}

TEST(TokenClaimsTest, TimesCountWithTheLeeway) {
  const struct {
    std::string_view claims;
    Fault fault;
  } kRows[] = {
      {R"({"exp":1800000001})", Fault::kNone},
      {R"({"exp":1799999971})", Fault::kNone},
      {R"({"exp":1799999970})", Fault::kTokenExpired},
      {R"({"exp":1799999970.001})", Fault::kNone},
      {R"({"exp":1799999969.999})", Fault::kTokenExpired},
      {R"({"exp":0})", Fault::kTokenExpired},
      {R"({"exp":-9223372036854775808})", Fault::kTokenExpired},
      {R"({"exp":9223372036854775807})", Fault::kNone},
      {R"({"exp":1e300})", Fault::kNone},
      {R"({"exp":1.8e9})", Fault::kNone},
      {R"({})", Fault::kTokenMalformed},
      {R"({"exp":"1800000001"})", Fault::kTokenMalformed},
      {R"({"exp":null})", Fault::kTokenMalformed},
      {R"({"exp":true})", Fault::kTokenMalformed},
      {R"({"exp":[1800000001]})", Fault::kTokenMalformed},
      {R"({"exp":1800000001,"nbf":1800000030})", Fault::kNone},
      {R"({"exp":1800000001,"nbf":1800000031})", Fault::kTokenEarly},
      {R"({"exp":1800000001,"nbf":1800000030.5})", Fault::kTokenEarly},
      {R"({"exp":1800000001,"nbf":"0"})", Fault::kTokenMalformed},
      {R"({"exp":1800000001,"nbf":-1})", Fault::kNone},
      {R"({"exp":1800000001,"iat":1800000030})", Fault::kNone},
      {R"({"exp":1800000001,"iat":1800000031})", Fault::kTokenEarly},
      {R"({"exp":1800000001,"iat":{}})", Fault::kTokenMalformed},
      {R"({"exp":1800000001,"iat":1})", Fault::kNone},
  };
  for (const auto& row : kRows) EXPECT_EQ(check(row.claims), row.fault) << row.claims;
}

TEST(TokenClaimsTest, ATokenIsGoodUntilItsTimeAndTheLeeway) {
  const auto until = [](std::string_view claims) { return *check_claims(token_with(claims), kAnybody, kNow); };
  EXPECT_EQ(until(R"({"exp":1800000001})"), kNow + std::chrono::seconds(31));
  EXPECT_EQ(until(R"({"exp":1800000000.25})"), kNow + std::chrono::milliseconds(30'250));
  EXPECT_EQ(until(R"({"exp":1e300})"), WallTime::max());
}

TEST(TokenClaimsTest, IssuerAndAudienceAreExact) {
  const Expectation expected{
      .issuer = "https://id.example", .audience = "open-api", .type = {}, .leeway = std::chrono::seconds(0)};
  const auto claims = [](const std::string& rest) { return R"({"exp":1800000001)" + rest + "}"; };
  const struct {
    std::string rest;
    Fault fault;
  } kRows[] = {
      {R"(,"iss":"https://id.example","aud":"open-api")", Fault::kNone},
      {R"(,"iss":"https://id.example","aud":["other","open-api"])", Fault::kNone},
      {R"(,"iss":"https://id.example/","aud":"open-api")", Fault::kTokenIssuer},
      {R"(,"iss":"HTTPS://id.example","aud":"open-api")", Fault::kTokenIssuer},
      {R"(,"iss":["https://id.example"],"aud":"open-api")", Fault::kTokenIssuer},
      {R"(,"aud":"open-api")", Fault::kTokenIssuer},
      {R"(,"iss":"https://id.example")", Fault::kTokenAudience},
      {R"(,"iss":"https://id.example","aud":"open-ap")", Fault::kTokenAudience},
      {R"(,"iss":"https://id.example","aud":"open-api ")", Fault::kTokenAudience},
      {R"(,"iss":"https://id.example","aud":[])", Fault::kTokenAudience},
      {R"(,"iss":"https://id.example","aud":["other"])", Fault::kTokenAudience},
      {R"(,"iss":"https://id.example","aud":["open-api",1])", Fault::kTokenMalformed},
      {R"(,"iss":"https://id.example","aud":{"open-api":1})", Fault::kTokenMalformed},
      {R"(,"iss":"https://id.example","aud":1)", Fault::kTokenMalformed},
  };
  for (const auto& row : kRows) EXPECT_EQ(check(claims(row.rest), expected), row.fault) << row.rest;
}

TEST(TokenClaimsTest, TheTypeIsThatOfAnAccessTokenOrAsSaid) {
  constexpr std::string_view kClaims = R"({"exp":1800000001})";
  for (const char* type : {"JWT", "jwt", "at+jwt", "AT+JWT", "application/at+jwt", "Application/JWT"}) {
    EXPECT_EQ(check(kClaims, kAnybody, type), Fault::kNone) << type;
  }
  for (const char* type : {"", "dpop+jwt", "application/", "JOSE", "logout+jwt", "JWT "}) {
    EXPECT_EQ(check(kClaims, kAnybody, type), Fault::kTokenType) << type;
  }
  Expectation strict = kAnybody;
  strict.type = "at+jwt";
  EXPECT_EQ(check(kClaims, strict), Fault::kTokenType);
  EXPECT_EQ(check(kClaims, strict, "JWT"), Fault::kTokenType);
  EXPECT_EQ(check(kClaims, strict, "application/AT+jwt"), Fault::kNone);
}

TEST(TokenClaimsTest, ClaimsBecomeTexts) {
  const jose::Token token = token_with(
      R"({"s":"text","i":9007199254740993,"n":-7,"b":true,"f":false,"r":1.5,"z":null,"a":[1],"e":"",)"
      R"("o":{"p":{"q":"deep"},"s":"in","":"unnamed"},"o.s":"whole","https://x.example/plan":"gold","ü":"ö"})");
  const struct {
    std::string_view name, text;
  } kRows[] = {{"s", "text"},     {"i", "9007199254740993"},
               {"n", "-7"},       {"b", "true"},
               {"f", "false"},    {"r", ""},
               {"z", ""},         {"a", ""},
               {"e", ""},         {"o", ""},
               {"o.p.q", "deep"}, {"o.s", "whole"},
               {"o.p", ""},       {"o.p.q.x", ""},
               {"o.", ""},        {".o", ""},
               {"s.x", ""},       {"https://x.example/plan", "gold"},
               {"absent", ""},    {"absent.s", ""}};
  for (const auto& row : kRows) EXPECT_EQ(claim_text(token, row.name), row.text) << row.name;
}

}  // namespace
}  // namespace weir::identity
