// SPDX-License-Identifier: Apache-2.0
//
// Tokens from a request to attributes, what is remembered of them, and who is held off.
#include "weir/identity/token_callers.h"

#include <gtest/gtest.h>

#include "weir/identity/identifier.h"
#include "weir/identity/testing/parsed_request.h"
#include "weir/jose/testing/signer.h"

namespace weir::identity {
namespace {

using config::PerAttribute;
using jose::testing::Signer;
using jose::testing::signer_for;
using testing::ParsedRequest;
using enum jose::Algorithm;
using std::chrono::seconds;

constexpr WallTime kNow{seconds(1'800'000'000)};

std::shared_ptr<const jose::KeySet> keys_of(const std::string& jwks) {
  auto reading = jose::KeySet::read(R"({"keys":[)" + jwks + "]}", jose::KeySet::Origin::kFile);
  return std::make_shared<const jose::KeySet>(std::move(reading.value().keys));
}

const Signer& signer() { return signer_for(kEs256); }

std::string claims(const std::string& more = {}, int lasts = 60) {
  return R"({"iss":"id","exp":)" + std::to_string(1'800'000'000 + lasts) + (more.empty() ? "" : "," + more) + "}";
}

std::string good(const std::string& more = {}, int lasts = 60) {
  return signer().token(kEs256, claims(more, lasts), R"("kid":"a")");
}

config::JwtCaller caller_of(const std::string& issuer) {
  config::JwtCaller caller;
  caller.issuer = issuer;
  caller.attributes = {{"partner", "partner_id"}, {"plan", "plan"}};
  return caller;
}

config::Config example() {
  config::Config config;
  config.callers = {caller_of("id"), config::ApiKeyCaller{"X-Api-Key"}};
  config.keys = {{"right", "keyed", "free"}};
  config::Limit limit;
  limit.per = {{PerAttribute::Source::kClaim, "realm.tenant"}};
  config.limits = {limit};
  return config;
}

// Holds off after so many failures.
class CountingGate final : public Gate {
 public:
  explicit CountingGate(int most) : most_(most) {}
  nanoseconds wait(std::string_view) override {
    return failures < most_ ? nanoseconds(0) : nanoseconds(1'500'000'000);
  }
  void charge(std::string_view address) override {
    ++failures;
    last = address;
  }
  int failures = 0;
  std::string last;

 private:
  int most_;
};

class Scene {
 public:
  explicit Scene(const config::Config& config = example())
      : source(std::make_shared<KeySource>(keys_of(signer().jwk(R"("kid":"a")")))),
        identifier_(config, [this](const config::JwtCaller&) { return source; }) {}

  // The code of the refusal, or "yes".
  std::string ask(const std::vector<std::string>& fields) {
    request_.emplace("GET /", fields);
    const Arrival arrival{request_->head(), peer_, now, memory_, gate};
    why = {};
    const Identified identified = identifier_.identify(arrival, caller_, why);
    return identified == Identified::kYes ? "yes" : std::string(why.code);
  }
  std::string bearer(const std::string& token) { return ask({"Authorization: Bearer " + token}); }
  std::string get(std::string_view name) const { return get({PerAttribute::Source::kAttribute, std::string(name)}); }
  std::string get(const PerAttribute& attribute) const {
    return std::string(caller_.attributes.get(*identifier_.names().find(attribute)));
  }
  const Identifier& identifier() const { return identifier_; }
  Memory& memory() { return memory_; }

  std::shared_ptr<KeySource> source;
  WallTime now = kNow;
  Gate* gate = nullptr;
  Refusal why;
  Counters counters;

 private:
  Identifier identifier_;
  Memory memory_ = identifier_.make_memory(counters);
  std::optional<ParsedRequest> request_;
  Peer peer_ = identifier_.peer(IpAddress::parse("198.51.100.4"));
  Caller caller_;
};

TEST(TokenCallersTest, ClaimsBecomeAttributesAndWhatLimitsCountBy) {
  Scene scene;
  ASSERT_EQ(scene.bearer(good(R"("partner_id":4711,"plan":"gold","realm":{"tenant":"t1"})")), "yes");
  EXPECT_EQ(scene.get("partner"), "4711");
  EXPECT_EQ(scene.get("plan"), "gold");
  EXPECT_EQ(scene.get({PerAttribute::Source::kClaim, "realm.tenant"}), "t1");
  ASSERT_EQ(scene.bearer(good()), "yes");
  EXPECT_EQ(scene.get("partner"), "");
}

TEST(TokenCallersTest, TheFirstCallerThatYieldsAnAttributeCounts) {
  Scene scene;
  ASSERT_EQ(scene.ask({"Authorization: Bearer " + good(R"("partner_id":"p")"), "X-Api-Key: right"}), "yes");
  EXPECT_EQ(scene.get("partner"), "p");
  EXPECT_EQ(scene.get("plan"), "free");
}

TEST(TokenCallersTest, OnlyTheSchemeBearerIsOurs) {
  Scene scene;
  const std::string token = good(R"("partner_id":"p")");
  const struct {
    std::string field;
    std::string_view code, partner;
  } kRows[] = {
      {"Authorization: Bearer " + token, "yes", "p"},
      {"authorization: bEARER    " + token, "yes", "p"},
      {"Authorization: Basic dTpw", "yes", ""},
      {"Authorization: Bearers " + token, "yes", ""},
      {"Authorization: " + token, "yes", ""},
      {"Authorization:", "yes", ""},
      {"Authorization: Bearer", "token-malformed", ""},
      {"Authorization: Bearer x", "token-malformed", ""},
      {"Authorization: Bearer " + token + " x", "token-malformed", ""},
      {"Authorization: Bearer " + token + ", Basic x", "token-malformed", ""},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(scene.ask({row.field}), row.code) << row.field;
    if (row.code != "yes") continue;
    EXPECT_EQ(scene.get("partner"), row.partner);
  }
  EXPECT_TRUE(scene.identifier().is_identity_field("authorization"));
}

TEST(TokenCallersTest, InAnotherFieldTheTokenMayStandAlone) {
  config::Config config = example();
  std::get<config::JwtCaller>(config.callers[0]).header = "X-Token";
  Scene scene(config);
  EXPECT_EQ(scene.ask({"X-Token: " + good(R"("partner_id":"p")")}), "yes");
  EXPECT_EQ(scene.get("partner"), "p");
  EXPECT_EQ(scene.ask({"x-token: Bearer " + good(R"("partner_id":"q")")}), "yes");
  EXPECT_EQ(scene.get("partner"), "q");
  EXPECT_EQ(scene.ask({"X-Token: Basic x"}), "token-malformed");
  EXPECT_EQ(scene.ask({"X-Token: " + good(), "X-Token: " + good()}), "identity-twice");
}

TEST(TokenCallersTest, EveryKindOfBadTokenHasItsCode) {
  config::Config config = example();
  auto& caller = std::get<config::JwtCaller>(config.callers[0]);
  caller.audience = "api";
  caller.algorithms = {kEs256, kRs256};
  Scene scene(config);
  scene.source->replace(keys_of(signer().jwk(R"("kid":"a")") + "," + signer_for(kHs256).jwk(R"("kid":"h")")));
  const auto token = [](const std::string& payload, const std::string& members = R"("kid":"a")") {
    return signer().token(kEs256, payload, members);
  };
  const std::string aud = R"("aud":"api")";
  const std::string fine = token(claims(aud));
  std::string none = fine.substr(0, fine.rfind('.') + 1);
  const struct {
    std::string token;
    std::string_view code;
  } kRows[] = {
      {fine, "yes"},
      {"x.y.z", "token-malformed"},
      {jose::testing::base64url(R"({"alg":"none"})") + "." + jose::testing::base64url(claims(aud)) + ".",
       "token-algorithm"},
      {none, "token-signature"},
      {token(claims(aud), R"("kid":"a","crit":["exp"])"), "token-critical"},
      {token(claims(aud), R"("kid":"b")"), "token-key"},
      {Signer::ec().token(kEs256, claims(aud), R"("kid":"a")"), "token-signature"},
      {signer_for(kHs256).token(kHs256, claims(aud), R"("kid":"h")"), "token-algorithm"},
      {signer_for(kRs256).token(kRs256, claims(aud), R"("kid":"a")"), "token-algorithm"},
      {token(claims(aud, -31)), "token-expired"},
      {token(claims(aud + R"(,"nbf":1800000031)")), "token-early"},
      {token(R"({"iss":"other","aud":"api","exp":1800000060})"), "token-issuer"},
      {token(claims(R"("aud":"other")")), "token-audience"},
      {token(claims(aud), R"("kid":"a","typ":"dpop+jwt")"), "token-type"},
      {token(claims(aud + R"(,"partner_id":")" + std::string(257, 'p') + "\"")), "identity-too-long"},
      {token(claims(aud + R"(,"partner_id":")" + std::string(256, 'p') + "\"")), "yes"},
  };
  for (const auto& row : kRows) {
    for (int again = 0; again < 2; ++again) {
      EXPECT_EQ(scene.bearer(row.token), row.code) << again;
      if (!row.code.starts_with("token-")) continue;
      EXPECT_EQ(scene.why.status, 401);
      EXPECT_EQ(scene.why.fields,
                "WWW-Authenticate: Bearer realm=\"weir\", error=\"invalid_token\", error_description=\"" +
                    std::string(scene.why.detail) + "\"\r\n");
    }
  }
}

TEST(TokenCallersTest, NobodyIsToldEveryWayToSayWhoOneIs) {
  config::Config config = example();
  config.identify_required = true;
  Scene scene(config);
  EXPECT_EQ(scene.ask({}), "unidentified");
  EXPECT_EQ(scene.why.fields,
            "WWW-Authenticate: Bearer realm=\"weir\"\r\nWWW-Authenticate: ApiKey realm=\"weir\"\r\n");
  EXPECT_EQ(scene.bearer(good()), "unidentified");  // a good token that names nobody
  EXPECT_EQ(scene.bearer(good(R"("partner_id":"p")")), "yes");
}

TEST(TokenCallersTest, TheIssuerOfATokenPicksWhoseKeysItMustStand) {
  const Signer other = Signer::ec();
  config::Config config;
  config.callers = {caller_of("one"), caller_of("two")};
  auto& one = std::get<config::JwtCaller>(config.callers[0]);
  auto& two = std::get<config::JwtCaller>(config.callers[1]);
  one.file_keys = keys_of(signer().jwk());
  two.file_keys = keys_of(other.jwk());
  two.header = "authorization";
  two.attributes = {{"user", "sub"}};
  Scene scene(config);
  const auto token = [](const Signer& by, const std::string& issuer) {
    return by.token(kEs256, R"({"exp":1800000060,"sub":"s","partner_id":"p","iss":")" + issuer + "\"}");
  };
  EXPECT_EQ(scene.bearer(token(signer(), "one")), "yes");
  EXPECT_EQ(scene.get("partner") + "/" + scene.get("user"), "p/");
  EXPECT_EQ(scene.bearer(token(other, "two")), "yes");
  EXPECT_EQ(scene.get("partner") + "/" + scene.get("user"), "/s");
  EXPECT_EQ(scene.bearer(token(signer(), "two")), "token-signature");
  EXPECT_EQ(scene.bearer(token(other, "one")), "token-signature");
  EXPECT_EQ(scene.bearer(token(other, "three")), "token-issuer");
  EXPECT_EQ(scene.bearer(signer().token(kEs256, R"({"exp":1800000060})")), "token-issuer");
}

TEST(TokenCallersTest, AKnownTokenCostsNoSignatureCheckUntilItExpires) {
  Scene scene;
  const std::string token = good(R"("partner_id":"p")", 60);
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(scene.bearer(token), "yes");
    EXPECT_EQ(scene.get("partner"), "p");
  }
  EXPECT_EQ(scene.counters.verified.value(), 1U);
  EXPECT_EQ(scene.counters.remembered.value(), 4U);
  scene.now = kNow + seconds(89);
  EXPECT_EQ(scene.bearer(token), "yes");
  scene.now = kNow + seconds(90);  // exp and the leeway
  EXPECT_EQ(scene.bearer(token), "token-expired");
}

TEST(TokenCallersTest, GoodTokensAreForgottenLeastRecentlyUsedFirst) {
  config::Config config = example();
  std::get<config::JwtCaller>(config.callers[0]).cache = 2;
  Scene scene(config);
  const std::string a = good(R"("jti":"a")");
  const std::string b = good(R"("jti":"b")");
  const std::string c = good(R"("jti":"c")");
  for (const std::string& token : {a, b, a, c, a, b}) EXPECT_EQ(scene.bearer(token), "yes");
  EXPECT_EQ(scene.counters.verified.value(), 4U);  // a, b, c, and b again
  EXPECT_EQ(scene.memory().fields[0].known.size(), 2U);
}

TEST(TokenCallersTest, WrongTokensAreRememberedApartAndNotForLong) {
  config::Config config = example();
  std::get<config::JwtCaller>(config.callers[0]).cache = 1;
  Scene scene(config);
  const std::string token = good();
  const std::string wrong = Signer::ec().token(kEs256, claims(), R"("kid":"a")");
  EXPECT_EQ(scene.bearer(token), "yes");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(scene.bearer(wrong), "token-signature");
  EXPECT_EQ(scene.counters.again.value(), 2U);
  for (int i = 0; i < 3000; ++i) scene.bearer("wrong" + std::to_string(i));
  EXPECT_LE(scene.memory().fields[0].refused.size(), Memory::Field::kRefusedRoom);
  EXPECT_EQ(scene.bearer(token), "yes");
  EXPECT_EQ(scene.counters.verified.value(), 1U);
  EXPECT_EQ(scene.bearer(wrong), "token-signature");
  scene.now = kNow + seconds(10);
  EXPECT_EQ(scene.bearer(wrong), "token-signature");
  EXPECT_EQ(scene.counters.again.value(), 2U);  // it was looked at anew both times
}

TEST(TokenCallersTest, ATokenThatIsEarlyIsTakenWhenItsTimeHasCome) {
  Scene scene;
  const std::string token = good(R"("nbf":1800000031)");
  EXPECT_EQ(scene.bearer(token), "token-early");
  scene.now = kNow + seconds(1);
  EXPECT_EQ(scene.bearer(token), "yes");
}

TEST(TokenCallersTest, AKnownTokenGoesWithItsKey) {
  Scene scene;
  const std::string token = good();
  EXPECT_EQ(scene.bearer(token), "yes");
  scene.source->replace(keys_of(Signer::ec().jwk(R"("kid":"b")") + "," + signer().jwk(R"("kid":"a")")));
  EXPECT_EQ(scene.bearer(token), "yes");
  EXPECT_EQ(scene.counters.verified.value(), 1U);
  scene.source->replace(keys_of(Signer::ec().jwk(R"("kid":"a")")));
  EXPECT_EQ(scene.bearer(token), "token-signature");
  scene.source->replace(keys_of(signer().jwk(R"("kid":"a")")));
  EXPECT_EQ(scene.bearer(token), "yes");  // what was wrong with other keys is looked at anew
}

TEST(TokenCallersTest, AnUnknownKidAsksForTheKeysOnce) {
  Scene scene;
  EXPECT_EQ(scene.bearer(good()), "yes");
  EXPECT_FALSE(scene.source->wait_for_miss(nanoseconds(0)));
  for (const char* kid : {"b", "c", "d"}) {
    EXPECT_EQ(scene.bearer(signer().token(kEs256, claims(), R"("kid":")" + std::string(kid) + "\"")), "token-key");
  }
  EXPECT_TRUE(scene.source->wait_for_miss(nanoseconds(0)));
  EXPECT_FALSE(scene.source->wait_for_miss(nanoseconds(0)));
}

TEST(TokenCallersTest, WithoutKeysNobodyCanSayWhetherATokenIsGood) {
  Scene scene;
  scene.source = std::make_shared<KeySource>();
  Identifier identifier(example(), [&](const config::JwtCaller&) { return scene.source; });
  Counters counters;
  Memory memory = identifier.make_memory(counters);
  CountingGate gate(1);
  const ParsedRequest request("GET /", {"Authorization: Bearer " + good()});
  const Peer peer = identifier.peer(IpAddress::parse("198.51.100.4"));
  Caller caller;
  Refusal why;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(identifier.identify({request.head(), peer, kNow, memory, &gate}, caller, why),
              Identified::kUnavailable);
    EXPECT_EQ(why.status, 503);
    EXPECT_EQ(why.code, "keys-unavailable");
    EXPECT_TRUE(why.fields.starts_with("Retry-After: "));
  }
  EXPECT_EQ(gate.failures, 0);
  scene.source->replace(keys_of(signer().jwk(R"("kid":"a")")));
  EXPECT_EQ(identifier.identify({request.head(), peer, kNow, memory, &gate}, caller, why), Identified::kYes);
}

TEST(TokenCallersTest, WhoGuessesIsHeldOffAndGoodCredentialsPass) {
  Scene scene;
  CountingGate gate(3);
  scene.gate = &gate;
  const std::string known = good();
  EXPECT_EQ(scene.bearer(known), "yes");
  EXPECT_EQ(scene.bearer("wrong"), "token-malformed");
  EXPECT_EQ(scene.bearer("wrong"), "token-malformed");  // a failure, though it was remembered
  EXPECT_EQ(scene.ask({"X-Api-Key: wrong"}), "unknown-key");
  EXPECT_EQ(gate.failures, 3);
  EXPECT_EQ(gate.last, "198.51.100.4");
  for (const std::string& token : {std::string("wrong"), std::string("another"), good(R"("jti":"fresh")")}) {
    EXPECT_EQ(scene.bearer(token), "too-many-failures");
    EXPECT_EQ(scene.why.status, 429);
    EXPECT_EQ(scene.why.fields, "Retry-After: 2\r\n");
  }
  EXPECT_EQ(scene.ask({"X-Api-Key: wrong"}), "too-many-failures");
  EXPECT_EQ(gate.failures, 3);
  EXPECT_EQ(scene.counters.verified.value(), 1U);
  EXPECT_EQ(scene.bearer(known), "yes");
  EXPECT_EQ(scene.ask({"X-Api-Key: right"}), "yes");
  EXPECT_EQ(scene.ask({}), "yes");
}

TEST(TokenCallersTest, WhatIsNoFailureIsNotCharged) {
  Scene scene;
  CountingGate gate(1);
  scene.gate = &gate;
  EXPECT_EQ(scene.bearer(good()), "yes");
  EXPECT_EQ(scene.bearer(good(R"("partner_id":")" + std::string(257, 'p') + "\"")), "identity-too-long");
  EXPECT_EQ(scene.ask({"Authorization: Basic x"}), "yes");
  EXPECT_EQ(scene.ask({"X-Api-Key: right", "X-Api-Key: right"}), "identity-twice");
  EXPECT_EQ(gate.failures, 0);
}

}  // namespace
}  // namespace weir::identity
