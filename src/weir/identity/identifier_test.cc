// SPDX-License-Identifier: Apache-2.0
#include "weir/identity/identifier.h"

#include <gtest/gtest.h>

#include "weir/base/sha256.h"
#include "weir/identity/testing/parsed_request.h"

namespace weir::identity {
namespace {

using config::PerAttribute;
using config::TrustedFrom;
using testing::ParsedRequest;

constexpr std::string_view kProxy = "10.0.0.1";
constexpr std::string_view kStranger = "198.51.100.4";

config::Config example() {
  config::Config config;
  config.trusted_proxies.push_back(*IpNetwork::parse("10.0.0.0/8"));
  config.callers = {config::ApiKeyCaller{"X-Api-Key"},
                    config::HeaderCaller{"X-User-Id", "user", TrustedFrom::kTrustedProxies},
                    config::HeaderCaller{"X-Device", "device", TrustedFrom::kAnyone}};
  config.keys = {{"demo-acme", "acme", "free"}, {"demo-bolt", "bolt", std::nullopt}};
  config.bypass = {config::HeaderBypass{"X-User-Role", "ADMIN", TrustedFrom::kTrustedProxies},
                   config::AddressBypass{{*IpNetwork::parse("192.0.2.0/24"), *IpNetwork::parse("2001:db8::7")}}};
  return config;
}

config::Limit limit_per(PerAttribute attribute) {
  config::Limit limit;
  limit.per = {std::move(attribute)};
  return limit;
}

// Who is recognised, as text.
class Scene {
 public:
  explicit Scene(const config::Config& config) : identifier_(config) {}

  Identified ask(std::string_view peer, const std::vector<std::string>& fields, std::string_view start = "GET /") {
    request_.emplace(start, fields);
    peer_ = identifier_.peer(peer == "unix" ? std::nullopt : IpAddress::parse(peer));
    return identifier_.identify({request_->head(), peer_, WallTime{}, memory_}, caller_, why_);
  }
  std::string get(std::string_view name) const {
    return std::string(caller_.attributes.get(*identifier_.names().find(name)));
  }
  std::string get(const PerAttribute& attribute) const {
    return std::string(caller_.attributes.get(*identifier_.names().find(attribute)));
  }
  bool bypass() const { return caller_.bypass; }
  const Refusal& why() const { return why_; }
  const Identifier& identifier() const { return identifier_; }

 private:
  Identifier identifier_;
  Counters counters_;
  Memory memory_ = identifier_.make_memory(counters_);
  std::optional<ParsedRequest> request_;
  Peer peer_;
  Caller caller_;
  Refusal why_;
};

TEST(IdentifierTest, AKeyTellsPartnerAndPlan) {
  Scene scene(example());
  ASSERT_EQ(scene.ask(kStranger, {"x-api-key: demo-acme"}), Identified::kYes);
  EXPECT_EQ(scene.get("partner"), "acme");
  EXPECT_EQ(scene.get("plan"), "free");
  ASSERT_EQ(scene.ask(kStranger, {"X-Api-Key: demo-bolt"}), Identified::kYes);
  EXPECT_EQ(scene.get("partner"), "bolt");
  EXPECT_EQ(scene.get("plan"), "");
}

TEST(IdentifierTest, FaultsHaveStableCodes) {
  Scene scene(example());
  const std::string longest(256, 'k');
  const struct {
    std::string_view peer;
    std::vector<std::string> fields;
    Identified identified;
    int status;
    std::string_view code;
  } kRows[] = {
      {kStranger, {"X-Api-Key: demo-acm"}, Identified::kUnauthorized, 401, "unknown-key"},
      {kStranger, {"X-Api-Key: DEMO-ACME"}, Identified::kUnauthorized, 401, "unknown-key"},
      {kStranger, {"X-Api-Key: " + longest}, Identified::kUnauthorized, 401, "unknown-key"},
      {kStranger, {"X-Api-Key: k" + longest}, Identified::kBadRequest, 400, "identity-too-long"},
      {kStranger, {"X-Api-Key: demo-acme", "X-Api-Key: demo-acme"}, Identified::kBadRequest, 400, "identity-twice"},
      {kStranger, {"X-Api-Key:", "X-Api-Key: demo-acme"}, Identified::kBadRequest, 400, "identity-twice"},
      {kProxy, {"X-User-Id: 1", "x-user-id: 2"}, Identified::kBadRequest, 400, "identity-twice"},
      {kProxy, {"X-User-Id: u" + longest}, Identified::kBadRequest, 400, "identity-too-long"},
      {kStranger, {"X-Device: 1", "X-Device: 1"}, Identified::kBadRequest, 400, "identity-twice"},
      {kProxy, {"X-User-Role: ADMIN", "X-User-Role: GUEST"}, Identified::kBadRequest, 400, "identity-twice"},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(scene.ask(row.peer, row.fields), row.identified) << row.fields[0];
    EXPECT_EQ(scene.why().status, row.status) << row.fields[0];
    EXPECT_EQ(scene.why().code, row.code) << row.fields[0];
  }
}

TEST(IdentifierTest, AFieldForTrustedProxiesIsIgnoredFromOthers) {
  Scene scene(example());
  ASSERT_EQ(scene.ask(kProxy, {"X-User-Id: 42"}), Identified::kYes);
  EXPECT_EQ(scene.get("user"), "42");
  for (const auto peer : {kStranger, std::string_view("unix")}) {
    ASSERT_EQ(scene.ask(peer, {"X-User-Id: 42", "X-User-Id: 43", "X-Device: d"}), Identified::kYes);
    EXPECT_EQ(scene.get("user"), "");
    EXPECT_EQ(scene.get("device"), "d");
  }
}

TEST(IdentifierTest, NothingIsLeftFromTheRequestBefore) {
  Scene scene(example());
  ASSERT_EQ(scene.ask(kProxy, {"X-Api-Key: demo-acme", "X-User-Id: 42", "X-User-Role: ADMIN"}), Identified::kYes);
  EXPECT_TRUE(scene.bypass());
  ASSERT_EQ(scene.ask(kProxy, {}), Identified::kYes);
  for (const auto* name : {"partner", "user", "plan", "key", "device"}) EXPECT_EQ(scene.get(name), "") << name;
  EXPECT_FALSE(scene.bypass());
}

TEST(IdentifierTest, TheAddressIsTheClientsGroup) {
  Scene scene(example());
  const struct {
    std::string_view peer, forwarded, address;
  } kRows[] = {
      {kStranger, "1.2.3.4", "198.51.100.4"},
      {kProxy, "1.1.1.1, 203.0.113.9", "203.0.113.9"},
      {kProxy, "2001:db8:1:2:3::9", "2001:db8:1:2::/64"},
      {kProxy, "garbage", "10.0.0.1"},
      {"2001:db8:1:2:3::9", "1.2.3.4", "2001:db8:1:2::/64"},
      {"::ffff:10.0.0.1", "203.0.113.9", "203.0.113.9"},
      {"unix", "203.0.113.9", "unix"},
  };
  for (const auto& row : kRows) {
    ASSERT_EQ(scene.ask(row.peer, {"X-Forwarded-For: " + std::string(row.forwarded)}), Identified::kYes);
    EXPECT_EQ(scene.get("address"), row.address) << row.peer << " " << row.forwarded;
  }
}

TEST(IdentifierTest, APeerKnowsItsTextAndGroup) {
  const Identifier identifier(example());
  const Peer proxy = identifier.peer(IpAddress::parse("10.0.0.1"));
  EXPECT_TRUE(proxy.trusted);
  EXPECT_EQ(proxy.text, "10.0.0.1");
  const Peer six = identifier.peer(IpAddress::parse("2001:db8:1:2:3::9"));
  EXPECT_FALSE(six.trusted);
  EXPECT_EQ(six.text, "2001:db8:1:2:3::9");
  EXPECT_EQ(six.group, "2001:db8:1:2::/64");
  const Peer socket = identifier.peer(std::nullopt);
  EXPECT_FALSE(socket.trusted);
  EXPECT_EQ(socket.text, "unix");
  EXPECT_EQ(socket.group, "unix");
}

TEST(IdentifierTest, BypassFollowsTheTrustedFieldOrTheWholeAddress) {
  Scene scene(example());
  const struct {
    std::string_view peer;
    std::vector<std::string> fields;
    bool bypass;
  } kRows[] = {
      {kProxy, {"X-User-Role: ADMIN"}, true},
      {kProxy, {"X-User-Role: admin"}, false},
      {kProxy, {"X-User-Role: ADMIN2"}, false},
      {kStranger, {"X-User-Role: ADMIN"}, false},
      {"192.0.2.77", {}, true},
      {kProxy, {"X-Forwarded-For: 192.0.2.77"}, true},
      {kStranger, {"X-Forwarded-For: 192.0.2.77"}, false},
      {"2001:db8::7", {}, true},
      {"2001:db8::8", {}, false},  // the same group, another address
      {"unix", {}, false},
  };
  for (const auto& row : kRows) {
    ASSERT_EQ(scene.ask(row.peer, row.fields), Identified::kYes);
    EXPECT_EQ(scene.bypass(), row.bypass) << row.peer;
  }
}

TEST(IdentifierTest, WhereIdentityIsRequiredPartnerOrUserMustBeThere) {
  config::Config config = example();
  config.identify_required = true;
  Scene scene(config);
  EXPECT_EQ(scene.ask(kStranger, {}), Identified::kUnauthorized);
  EXPECT_EQ(scene.why().code, "unidentified");
  EXPECT_EQ(scene.ask(kStranger, {"X-Device: d", "X-Api-Key:"}), Identified::kUnauthorized);
  EXPECT_EQ(scene.ask(kStranger, {"X-Api-Key: demo-bolt"}), Identified::kYes);
  EXPECT_EQ(scene.ask(kProxy, {"X-User-Id: 42"}), Identified::kYes);
}

TEST(IdentifierTest, AHashedKeyIsTheSameKey) {
  config::Config config = example();
  config.keys = {{sha256("demo-acme"), "hashed", std::nullopt}, {"clear", "clear", std::nullopt}};
  Scene hashed(config);
  ASSERT_EQ(hashed.ask(kStranger, {"X-Api-Key: demo-acme"}), Identified::kYes);
  EXPECT_EQ(hashed.get("partner"), "hashed");
  const std::string fingerprint = hashed.get("key");
  ASSERT_EQ(hashed.ask(kStranger, {"X-Api-Key: clear"}), Identified::kYes);
  EXPECT_EQ(hashed.get("partner"), "clear");
  EXPECT_NE(hashed.get("key"), fingerprint);
  Scene clear(example());
  ASSERT_EQ(clear.ask(kStranger, {"X-Api-Key: demo-acme"}), Identified::kYes);
  EXPECT_EQ(clear.get("key"), fingerprint);
  EXPECT_EQ(fingerprint.size(), 16U);
  EXPECT_EQ(fingerprint.find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST(IdentifierTest, ADigestIsNoKey) {
  const auto digest = sha256("demo-acme");
  const ApiKeys keys({{digest, "acme", std::nullopt}});
  EXPECT_NE(keys.find("demo-acme"), nullptr);
  EXPECT_EQ(keys.find(std::string_view(reinterpret_cast<const char*>(digest.data()), digest.size())), nullptr);
  EXPECT_EQ(keys.find(""), nullptr);
}

TEST(IdentifierTest, TheFirstCallerOfTheConfigurationDecides) {
  config::Config config = example();
  config.callers = {config::HeaderCaller{"X-Partner", "partner", TrustedFrom::kTrustedProxies},
                    config::ApiKeyCaller{"X-Api-Key"}, config::ApiKeyCaller{"X-Old-Key"}};
  Scene scene(config);
  ASSERT_EQ(scene.ask(kProxy, {"X-Api-Key: demo-acme", "X-Partner: other"}), Identified::kYes);
  EXPECT_EQ(scene.get("partner"), "other");
  EXPECT_EQ(scene.get("plan"), "free");
  ASSERT_EQ(scene.ask(kStranger, {"X-Old-Key: demo-acme"}), Identified::kYes);
  EXPECT_EQ(scene.get("partner"), "acme");
  EXPECT_EQ(scene.ask(kStranger, {"X-Api-Key: demo-acme", "X-Old-Key: demo-acme"}), Identified::kBadRequest);
  EXPECT_EQ(scene.why().code, "identity-twice");
}

TEST(IdentifierTest, SourcesOfLimitsAreRead) {
  using enum PerAttribute::Source;
  const PerAttribute tenant{kHeader, "X-Tenant"};
  const PerAttribute team{kQuery, "team"};
  const PerAttribute shop{kQuery, "shop"};
  const PerAttribute session{kCookie, "session"};
  config::Config config = example();
  for (const auto& attribute : {tenant, team, shop, session, PerAttribute{kHeader, "x-TENANT"}}) {
    config.limits.push_back(limit_per(attribute));
  }
  Scene scene(config);
  EXPECT_EQ(scene.identifier().names().size(), kStandardCount + 1 + 4U);
  ASSERT_EQ(scene.ask(kStranger, {"x-tenant: t1", "Cookie: session=s1; session=s2"}, "GET /?team=a%20b+c&shop=%31"),
            Identified::kYes);
  EXPECT_EQ(scene.get(tenant), "t1");
  EXPECT_EQ(scene.get(team), "a b c");
  EXPECT_EQ(scene.get(shop), "1");
  EXPECT_EQ(scene.get(session), "s1");
  ASSERT_EQ(scene.ask(kStranger, {}), Identified::kYes);
  for (const auto& attribute : {tenant, team, shop, session}) EXPECT_EQ(scene.get(attribute), "");
}

TEST(IdentifierTest, ASourceGivenTwiceOrTooLongIsRefused) {
  using enum PerAttribute::Source;
  config::Config config = example();
  config.limits = {limit_per({kHeader, "X-Tenant"}), limit_per({kQuery, "team"}), limit_per({kCookie, "session"})};
  Scene scene(config);
  const std::string too_long(257, 'x');
  const struct {
    std::vector<std::string> fields;
    std::string start;
    std::string_view code;
  } kRows[] = {
      {{"X-Tenant: a", "X-Tenant: a"}, "GET /", "identity-twice"},
      {{}, "GET /?team=a&team=b", "identity-twice"},
      {{"X-Tenant: " + too_long}, "GET /", "identity-too-long"},
      {{}, "GET /?team=" + too_long, "identity-too-long"},
      {{"Cookie: session=" + too_long}, "GET /", "identity-too-long"},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(scene.ask(kStranger, row.fields, row.start), Identified::kBadRequest) << row.start;
    EXPECT_EQ(scene.why().code, row.code) << row.start;
  }
  EXPECT_EQ(scene.ask(kStranger, {"X-Other: a", "X-Other: b"}, "GET /?x=1&x=2"), Identified::kYes);
}

TEST(IdentifierTest, FieldsThatDecideAreKnownByName) {
  config::Config config = example();
  config.limits = {limit_per({PerAttribute::Source::kHeader, "X-Tenant"})};
  config.limits[0].cost = config::HeaderCost{"X-Cost", 1, 100};
  const Identifier identifier(config);
  for (const auto* name : {"X-Api-Key", "x-api-key", "X-USER-ID", "x-device", "x-user-role", "x-tenant", "x-cost"}) {
    EXPECT_TRUE(identifier.is_identity_field(name)) << name;
  }
  for (const auto* name : {"X-Api-Ke", "X-Api-Keys", "Accept", "Cookie", "Date", ""}) {
    EXPECT_FALSE(identifier.is_identity_field(name)) << name;
  }
}

}  // namespace
}  // namespace weir::identity
