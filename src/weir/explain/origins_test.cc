// SPDX-License-Identifier: Apache-2.0
#include "weir/explain/origins.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "weir/explain/rehearsal.h"
#include "weir/identity/testing/parsed_request.h"

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
  Origins ask(const std::vector<std::string>& fields, const char* from = "10.0.0.1") {
    request_.emplace("GET /?q=1", fields);
    rehearsal_ = std::move(*Rehearsal::open(config_, clock_));
    peer_ = rehearsal_->generation().identifier.peer(IpAddress::parse(from));
    verdict_ = rehearsal_->judge(request_->head(), peer_);
    return Origins(
        {rehearsal_->generation(), request_->head(), peer_, rehearsal_->times(), nullptr, rehearsal_->keys()});
  }
  AttributeFacts find(const Origins& origins, const std::string& name) const {
    const auto all = origins.attributes(rehearsal_->scratch().caller.attributes);
    const auto found = std::ranges::find(all, name, &AttributeFacts::name);
    return found == all.end() ? AttributeFacts() : *found;
  }

  ManualClock clock_;
  config::Config config_ = callers();
  std::optional<identity::testing::ParsedRequest> request_;
  std::unique_ptr<Rehearsal> rehearsal_;
  identity::Peer peer_;
  gateway::Verdict verdict_;
};

TEST_F(OriginsTest, TheFirstCallerThatSaysItIsItsOrigin) {
  const Origins origins = ask({"X-Api-Key: secret", "X-Partner: other", "X-User: u"});
  EXPECT_EQ(find(origins, "partner").value, "acme");
  EXPECT_EQ(find(origins, "partner").text, "the key in X-Api-Key (configuration)");
  EXPECT_EQ(find(origins, "plan").source, "key");
  EXPECT_EQ(find(origins, "user").text, "header X-User, believed because the peer is a trusted proxy");
  ASSERT_EQ(origins.notes().size(), 1U);
  EXPECT_TRUE(origins.notes()[0].starts_with("X-Partner was sent"));
  EXPECT_EQ(origins.secrets(), std::vector<std::string>{"secret"});
}

TEST_F(OriginsTest, WhatIsNotBelievedIsTold) {
  config_.limits.resize(1);
  config_.limits[0].name = "a";
  config_.limits[0].per = {{config::PerAttribute::Source::kAttribute, "user"}};
  config_.limits[0].rate = config::Rate{1, std::chrono::seconds(1)};
  config_.limits[0].burst = 1;
  const Origins origins = ask({"X-User: u", "X-Forwarded-For: 192.0.2.1"}, "198.51.100.1");
  EXPECT_EQ(find(origins, "user").value, "");
  EXPECT_EQ(find(origins, "user").text, "X-User is believed only from trusted proxies, and 198.51.100.1 is none");
  EXPECT_EQ(find(origins, "address").text, "the connection");
  EXPECT_EQ(origins.notes().size(), 2U);
}

TEST_F(OriginsTest, AnAddressBehindAProxyIsToldWithItsField) {
  const Origins origins = ask({"X-Forwarded-For: 192.0.2.1"});
  EXPECT_EQ(find(origins, "address").value, "192.0.2.1");
  EXPECT_EQ(find(origins, "address").source, "proxy");
}

TEST_F(OriginsTest, TheWrongCredentialIsNamedAndNotShown) {
  const Origins origins = ask({"X-Api-Key: wrong"});
  EXPECT_EQ(verdict_.problem.code, "unknown-key");
  EXPECT_EQ(origins.blame(verdict_.problem.code), "the key in X-Api-Key");
  EXPECT_EQ(origins.blame("no-route"), "");
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
