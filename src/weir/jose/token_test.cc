// SPDX-License-Identifier: Apache-2.0
#include "weir/jose/token.h"

#include <gtest/gtest.h>

#include "weir/jose/testing/signer.h"

namespace weir::jose {
namespace {

using testing::base64url;

std::string compact(std::string_view header, std::string_view payload) {
  return base64url(header) + "." + base64url(payload) + "." + base64url("signature");
}

std::string show(std::string_view text) {
  const auto token = parse_token(text);
  if (token) return "good";
  switch (token.error()) {
    case TokenFault::kMalformed:
      return "malformed";
    case TokenFault::kAlgorithm:
      return "algorithm";
    case TokenFault::kCritical:
      return "critical";
  }
  return "";
}

TEST(TokenTest, ATokenIsTakenApart) {
  const std::string text = compact(R"({"alg":"ES256","kid":"k1","typ":"JWT","jku":"https://x"})", R"({"sub":"a"})");
  const auto token = parse_token(text);
  ASSERT_TRUE(token);
  EXPECT_EQ(token->algorithm, Algorithm::kEs256);
  EXPECT_EQ(token->kid, "k1");
  EXPECT_EQ(token->type, "JWT");
  EXPECT_EQ(text_member(token->claims.get(), "sub"), "a");
  EXPECT_EQ(token->signature, "signature");
  EXPECT_EQ(token->signed_part, text.substr(0, text.rfind('.')));
}

TEST(TokenTest, WhatIsNotStrictlyATokenIsRefused) {
  constexpr std::string_view kGood = R"({"alg":"HS256"})";
  const struct {
    std::string text;
    std::string_view shown;
  } kRows[] = {
      {compact(kGood, "{}"), "good"},
      {compact(R"({"alg":"none"})", "{}"), "algorithm"},
      {compact(R"({"alg":"None"})", "{}"), "algorithm"},
      {compact(R"({"alg":"hs256"})", "{}"), "algorithm"},
      {compact(R"({"alg":""})", "{}"), "algorithm"},
      {compact(R"({"alg":"RSA-OAEP"})", "{}"), "algorithm"},
      {compact(R"({"alg":"HS256","crit":["exp"]})", "{}"), "critical"},
      {compact(R"({"alg":"HS256","crit":[]})", "{}"), "critical"},
      {compact(R"({"alg":"HS256","crit":["b64"],"b64":true})", "{}"), "critical"},
      {compact(R"({"alg":"HS256","b64":false})", "{}"), "critical"},
      {compact(R"({"alg":"HS256","b64":true})", "{}"), "good"},
      {compact("{}", "{}"), "malformed"},
      {compact(R"({"alg":1})", "{}"), "malformed"},
      {compact(R"({"alg":null})", "{}"), "malformed"},
      {compact(R"({"alg":["HS256"]})", "{}"), "malformed"},
      {compact(R"({"alg":"HS256","kid":1})", "{}"), "malformed"},
      {compact(R"({"alg":"HS256","typ":[]})", "{}"), "malformed"},
      {compact(R"({"alg":"HS256","alg":"HS256"})", "{}"), "malformed"},
      {compact(R"({"alg":"none","alg":"HS256"})", "{}"), "malformed"},
      {compact(R"({"alg":"HS256","a\u006cg":"none"})", "{}"), "malformed"},
      {compact(kGood, R"({"a":1,"a":1})"), "malformed"},
      {compact(kGood, R"({"a":{"b":1,"b":2}})"), "malformed"},
      {compact(kGood, "[]"), "malformed"},
      {compact(kGood, "\"text\""), "malformed"},
      {compact(kGood, ""), "malformed"},
      {compact(kGood, "{}x"), "malformed"},
      {compact(kGood, "{'a':1}"), "malformed"},
      {compact(kGood, "{\"a\":\"\xff\"}"), "malformed"},
      {compact(kGood, "{\"a\":\"\xc0\x80\"}"), "malformed"},
      {compact(kGood, R"({"a":"\ud800"})"), "malformed"},
      {compact(kGood, R"({"a":"\u0000"})"), "malformed"},
      {compact(kGood, R"({"a":99999999999999999999})"), "malformed"},
      {compact(kGood, R"({"a":1e999})"), "malformed"},
      {compact(kGood, "{\"a\":" + std::string(31, '[') + std::string(31, ']') + "}"), "good"},
      {compact(kGood, "{\"a\":" + std::string(32, '[') + std::string(32, ']') + "}"), "malformed"},
      {compact(kGood, "{\"a\":\"" + std::string(1000, '[') + "\"}"), "good"},
      {compact(kGood, "{\"a\":\"\\\"" + std::string(1000, '[') + "\"}"), "good"},
      {compact(kGood, std::string(8000, '[')), "malformed"},
      {compact(kGood, "{\"a\":\"" + std::string(12300, 'x') + "\"}"), "malformed"},
      {"", "malformed"},
      {".", "malformed"},
      {"..", "malformed"},
      {"a.b.c.d.e", "malformed"},
      {compact(kGood, "{}") + ".", "malformed"},
      {compact(kGood, "{}") + "..", "malformed"},
      {compact(kGood, "{}") + "=", "malformed"},
      {compact(kGood, "{}") + " ", "malformed"},
      {" " + compact(kGood, "{}"), "malformed"},
      {base64url(kGood) + "." + base64url("{}") + ".QR", "malformed"},  // bits after the end
      {base64url(kGood) + "." + base64url("{}") + ".QQ", "good"},
      {base64url(kGood) + "." + base64url("{}") + ".QQ==", "malformed"},
      {base64url(kGood) + "." + base64url("{}") + ".Q", "malformed"},
      {base64url(kGood) + "." + base64url("{}") + ".+/AA", "malformed"},
      {base64url(kGood) + "." + base64url("{}") + ".", "good"},  // no signature is never a right one
      {base64url(kGood) + ".e30=.QQ", "malformed"},
      {base64url(kGood) + ".e31.QQ", "malformed"},
      {std::string(Token::kLongest + 1, 'a'), "malformed"},
  };
  for (const auto& row : kRows) EXPECT_EQ(show(row.text), row.shown) << row.text.substr(0, 200);
}

}  // namespace
}  // namespace weir::jose
