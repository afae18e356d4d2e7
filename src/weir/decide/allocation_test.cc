// SPDX-License-Identifier: Apache-2.0
//
// A request on its way from route to decision allocates nothing once everything has its size.
#include <gtest/gtest.h>

#include "weir/base/testing/count_allocations.h"
#include "weir/decide/decider.h"
#include "weir/identity/testing/parsed_request.h"
#include "weir/jose/key_set.h"
#include "weir/jose/testing/signer.h"
#include "weir/policy/testing/scene.h"

namespace weir::decide {
namespace {

using weir::testing::allocations;

using policy::testing::limit;

config::Config busy_config() {
  config::Config config = policy::testing::services();
  config.callers.insert(config.callers.begin(), config::ApiKeyCaller{"X-Api-Key"});
  config.keys = {{"a-key-that-is-longer-than-a-small-string", "a-partner-with-a-long-name", "plan"}};
  config.trusted_proxies = {*IpNetwork::parse("10.0.0.0/8")};
  config.limits = {limit("address", {"address"}, 1'000), limit("partner-service", {"partner", "service"}, 1'000),
                   limit("create", {"partner", "service"}, 1'000, {"POST /products/{id}"}),
                   limit("each", {"partner", "service", "endpoint"}, 1'000)};
  auto team = limit("team", {}, 1'000);
  team.per = {{config::PerAttribute::Source::kQuery, "team"}};
  config.limits.push_back(team);
  return config;
}

const jose::testing::Signer kSigner = jose::testing::Signer::secret(32);
constexpr const char* kClaims = R"({"exp":1800000000,"team":"a team that is known by what its token says of it"})";

// A token that is known already, as nearly all are.
config::JwtCaller token_caller() {
  config::JwtCaller caller;
  caller.attributes = {{"token_team", "team"}};
  auto keys = jose::KeySet::read(kSigner.jwk(), jose::KeySet::Origin::kFile);
  caller.file_keys = std::make_shared<const jose::KeySet>(std::move(keys.value().keys));
  return caller;
}

TEST(AllocationTest, ADecisionAllocatesNothing) {
  config::Config config = busy_config();
  config.callers.push_back(token_caller());
  const route::Router router(config);
  const identity::Identifier identifier(config);
  store::MemoryStore store({.max_accounts = 1'000});
  policy::RowNumbersShelf shelf;
  const policy::Policy policy(config, router, identifier.names(), store, shelf);
  Lines lines;
  const Decider decider(store, lines);
  const identity::testing::ParsedRequest request(
      "POST /products/12345?x=1&team=a%20team%20with%20a%20rather%20long%20name",
      {"X-Api-Key: a-key-that-is-longer-than-a-small-string", "X-Forwarded-For: 2001:db8:1111:2222:3333::9, 10.0.0.7",
       "Authorization: Bearer " + kSigner.token(jose::Algorithm::kHs256, kClaims)});
  const http::RequestHead& head = request.head();
  identity::Counters counters;
  identity::Memory memory = identifier.make_memory(counters);
  const identity::Peer peer = identifier.peer(IpAddress::parse("10.0.0.1"));

  route::Route route;
  identity::Caller caller;
  policy::Charges charges;
  Decision decision;
  identity::Refusal why;
  std::size_t after_first = 0;
  for (int round = 0; round < 100; ++round) {
    ASSERT_EQ(router.find(head.host, head.path, head.method, route), route::RouteStatus::kFound);
    ASSERT_EQ(identifier.identify({head, peer, WallTime{}, memory}, caller, why), identity::Identified::kYes);
    caller.attributes.set(identity::kService, config.services[route.service].name);
    caller.attributes.set(identity::kEndpoint, router.patterns()[route.endpoint].text);
    caller.attributes.set(identity::kMethod, head.method);
    policy.charge(route, head, caller, charges);
    decider.decide(charges, limit::Call::at(1'000'000'000 + round), decision);
    ASSERT_TRUE(decision.admitted);
    ASSERT_EQ(decision.outcomes.size(), 5U);
    if (round == 0) after_first = allocations;
  }
  EXPECT_EQ(allocations, after_first);
}

}  // namespace
}  // namespace weir::decide
