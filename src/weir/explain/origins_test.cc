// SPDX-License-Identifier: Apache-2.0
#include "weir/explain/origins.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "weir/explain/rehearsal.h"
#include "weir/identity/testing/parsed_request.h"
#include "weir/jose/key_set.h"

namespace weir::explain {
namespace {

using config::TrustedFrom;

config::Config callers() {
  config::Config config;
  config.upstreams = {{.name = "u", .endpoints = {{"http://127.0.0.1:9", "127.0.0.1", 9, {}}}, .timeouts = {}}};
  config.services = {{.name = "SHOP", .upstream = 0, .hosts = {}, .paths = {"/"}, .max_body = {}}};
  config.callers = {config::ApiKeyCaller{"X-Api-Key"},
                    config::HeaderCaller{"X-Partner", "partner", TrustedFrom::kAnyone},
                    config::HeaderCaller{"X-User", "user"}};
  config.keys = {{.key = "secret", .partner = "acme", .plan = "gold"}};
  config.trusted_proxies = {*IpNetwork::parse("10.0.0.0/8")};
  return config;
}

class OriginsTest : public ::testing::Test {
 protected:
  const Origins& ask(const std::vector<std::string>& fields, const char* from = "10.0.0.1") {
    origins_.reset();
    request_.emplace("GET /?q=1", fields);
    rehearsal_ = std::move(*Rehearsal::open(config_, clock_));
    peer_ = rehearsal_->generation().identifier.peer(IpAddress::parse(from));
    verdict_ = rehearsal_->judge(request_->head(), peer_);
    secrets_.emplace(config_, request_->head());
    const Scene scene{.generation = rehearsal_->generation(),
                      .head = request_->head(),
                      .peer = peer_,
                      .times = rehearsal_->times(),
                      .directory = nullptr,
                      .looked_up = rehearsal_->looked_up(),
                      .keys = rehearsal_->keys(),
                      .scratch = rehearsal_->scratch()};
    return origins_.emplace(scene, *secrets_);
  }
  static AttributeFacts find(const Origins& origins, const std::string& name) {
    const auto all = origins.attributes();
    const auto found = std::ranges::find(all, name, &AttributeFacts::name);
    return found == all.end() ? AttributeFacts() : *found;
  }
  void count_by(std::vector<config::PerAttribute> per) {
    config::Limit& limit = config_.limits.emplace_back();
    limit.name = "a";
    limit.per = std::move(per);
    limit.rate = config::Rate{1, std::chrono::seconds(1)};
    limit.burst = 1;
  }

  ManualClock clock_;
  config::Config config_ = callers();
  std::optional<identity::testing::ParsedRequest> request_;
  std::unique_ptr<Rehearsal> rehearsal_;
  identity::Peer peer_;
  gateway::Verdict verdict_;
  std::optional<Secrets> secrets_;
  std::optional<Origins> origins_;
};

using Source = config::PerAttribute::Source;

TEST_F(OriginsTest, TheFirstCallerThatSaysItIsItsOrigin) {
  const Origins& origins = ask({"X-Api-Key: secret", "X-Partner: other", "X-User: u"});
  EXPECT_EQ(find(origins, "partner").value, "acme");
  EXPECT_EQ(find(origins, "partner").text, "the key in X-Api-Key (configuration)");
  EXPECT_EQ(find(origins, "plan").source, "key");
  EXPECT_EQ(find(origins, "user").text, "header X-User, believed because the peer is a trusted proxy");
  ASSERT_EQ(origins.notes().size(), 1U);
  EXPECT_TRUE(origins.notes()[0].starts_with("X-Partner was sent"));
}

TEST_F(OriginsTest, WhatIsNotBelievedIsTold) {
  count_by({{Source::kAttribute, "user"}});
  const Origins& origins = ask({"X-User: u", "X-Forwarded-For: 192.0.2.1"}, "198.51.100.1");
  EXPECT_EQ(find(origins, "user").value, "");
  EXPECT_EQ(find(origins, "user").text, "X-User is believed only from trusted proxies, and 198.51.100.1 is none");
  EXPECT_EQ(find(origins, "address").text, "the connection");
  EXPECT_EQ(origins.notes().size(), 2U);
}

TEST_F(OriginsTest, AnAddressBehindAProxyIsToldWithItsField) {
  const Origins& origins = ask({"X-Forwarded-For: 192.0.2.1"});
  EXPECT_EQ(find(origins, "address").value, "192.0.2.1");
  EXPECT_EQ(find(origins, "address").source, "proxy");
}

TEST_F(OriginsTest, TheWrongCredentialIsNamedAndNotShown) {
  const Origins& origins = ask({"X-Api-Key: wrong"});
  EXPECT_EQ(verdict_.problem.code, "unknown-key");
  EXPECT_EQ(origins.blame(verdict_.problem.code), "the key in X-Api-Key");
  EXPECT_EQ(origins.blame("no-route"), "");
}

TEST_F(OriginsTest, BehindWhatIsRefusedNothingIsLookedAt) {
  count_by(
      {{Source::kAttribute, "user"}, {Source::kHeader, "X-Tenant"}, {Source::kQuery, "q"}, {Source::kQuery, "z"}});
  const Origins& origins = ask({"X-Api-Key: wrong", "X-Partner: p", "X-User: u", "X-Tenant: t"});
  EXPECT_EQ(find(origins, "partner").text,
            "what is in X-Api-Key is not taken (unknown-key); the request is refused before "
            "X-Partner is looked at");
  EXPECT_EQ(find(origins, "user").text, "the request is refused before X-User is looked at");
  EXPECT_EQ(find(origins, "header:X-Tenant").text, "the request is refused before it is looked at");
  EXPECT_EQ(find(origins, "query:q").text, "the request is refused before it is looked at");
  EXPECT_EQ(find(origins, "query:z").text, "the request has none");
}

TEST_F(OriginsTest, WhatWasKnownBeforeARefusalKeepsItsOrigin) {
  config_.callers.insert(config_.callers.begin() + 1, config::ApiKeyCaller{"X-Other-Key"});
  count_by({{Source::kAttribute, "plan"}});
  const Origins& origins = ask({"X-Api-Key: secret", "X-Other-Key: secret"});
  EXPECT_EQ(verdict_.problem.code, "identity-twice");
  EXPECT_EQ(find(origins, "partner").text, "the key in X-Api-Key (configuration)");
  EXPECT_EQ(origins.blame("identity-twice"), "the key in X-Other-Key");
}

TEST_F(OriginsTest, AKeyWithoutAPlanHasNone) {
  config_.keys.front().plan.reset();
  count_by({{Source::kAttribute, "plan"}});
  EXPECT_EQ(find(ask({"X-Api-Key: secret"}), "plan").text, "the key in X-Api-Key has none");
  EXPECT_EQ(find(ask({"X-User:"}), "partner").text, "the request has no X-Api-Key; the request has no X-Partner");
}

TEST_F(OriginsTest, AFieldThatIsEmptyOrOfAnotherSchemeSaysSo) {
  config::JwtCaller token;
  token.file_keys = std::make_shared<const jose::KeySet>();
  token.attributes = {{"partner", "sub"}};
  config_.callers = {token, config::HeaderCaller{"X-Partner", "partner", TrustedFrom::kAnyone}};
  EXPECT_EQ(find(ask({"Authorization: Basic dTpw", "X-Partner:"}), "partner").text,
            "Authorization has no Bearer token; X-Partner is empty");
  EXPECT_EQ(find(ask({"Authorization: Bearer dTpw"}), "partner").text,
            "what is in Authorization is not taken (token-malformed); the request has no X-Partner");
}

TEST_F(OriginsTest, AFieldThatIsThereTwiceIsToBlame) {
  count_by({{Source::kHeader, "X-Tenant"}, {Source::kQuery, "q"}});
  const Origins& origins = ask({"X-Tenant: a", "X-Tenant: b"});
  EXPECT_EQ(origins.blame(verdict_.problem.code), "header:X-Tenant");
  EXPECT_EQ(find(origins, "header:X-Tenant").text, "what the request has is not taken (identity-twice)");
  EXPECT_EQ(find(origins, "query:q").text, "the request is refused before it is looked at");
}

TEST_F(OriginsTest, CredentialsAreNotShownAsAttributes) {
  config_.callers.emplace_back(config::HeaderCaller{"X-Copy", "copy", TrustedFrom::kAnyone});
  count_by({{Source::kAttribute, "copy"},
            {Source::kHeader, "Authorization"},
            {Source::kHeader, "X-Tenant"},
            {Source::kCookie, "c"},
            {Source::kQuery, "q"}});
  const Origins& origins =
      ask({"X-Api-Key: secret", "Authorization: Basic dTpw", "Cookie: c=1", "X-Copy: secret", "X-Tenant: t"});
  for (const char* name : {"copy", "header:Authorization", "cookie:c", "query:q"}) {
    EXPECT_EQ(find(origins, name).value, kHidden) << name;
  }
  EXPECT_EQ(find(origins, "header:X-Tenant").value, "t");
}

TEST_F(OriginsTest, TheEntryThatLetsARequestPassIsNumbered) {
  config_.bypass = {config::HeaderBypass{"X-Role", "ADMIN"},
                    config::AddressBypass{{*IpNetwork::parse("10.0.0.0/24")}}};
  EXPECT_EQ(ask({"X-Role: ADMIN"}).bypass(), "entry 1 of bypass: the value of X-Role");
  EXPECT_EQ(ask({}).bypass(), "entry 2 of bypass: the address");
  EXPECT_EQ(ask({}, "10.9.9.9").bypass(), "");
}

}  // namespace
}  // namespace weir::explain
