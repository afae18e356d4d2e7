// SPDX-License-Identifier: Apache-2.0
#include "weir/explain/secrets.h"

#include <gtest/gtest.h>

#include "weir/identity/testing/parsed_request.h"

namespace weir::explain {
namespace {

using identity::testing::ParsedRequest;

config::JwtCaller token_in(const char* header) {
  config::JwtCaller caller;
  caller.header = header;
  return caller;
}

TEST(SecretsTest, CredentialsOfTheConfigurationAndOfHttpAreSome) {
  config::Config config;
  config.callers = {config::ApiKeyCaller{"X-Api-Key"}, token_in("X-Token"), config::HeaderCaller{"X-User", "user"}};
  config.bypass = {config::HeaderBypass{"X-Role", "ADMIN"}};
  const ParsedRequest request("GET /?q=q%201&r=r1",
                              {"x-api-key: k1", "X-Token: Bearer t1", "x-role: ADMIN", "X-User: u1",
                               "Authorization: Basic b1", "Proxy-Authorization: p1", "Cookie: c=c1; d=d1; e = e 1 "});
  const Secrets secrets(config, request.head());
  for (const char* value : {"k1", "Bearer t1", "t1", "ADMIN", "b1", "p1", "c1", "d1", "e 1", "q%201", "q 1", "r1"}) {
    EXPECT_EQ(secrets.shown(value), kHidden) << value;
  }
  EXPECT_EQ(secrets.shown("u1"), "u1");
  EXPECT_EQ(secrets.shown(""), "");
  for (const char* name : {"header:x-API-key", "header:X-Role", "header:Proxy-Authorization", "header:Cookie",
                           "header:Set-Cookie", "cookie:c", "query:q"}) {
    EXPECT_TRUE(secrets.hides(name, "anything")) << name;
  }
  EXPECT_FALSE(secrets.hides("header:X-User", "u1"));
  EXPECT_FALSE(secrets.hides("claim:sub", "u1"));
}

TEST(SecretsTest, ATargetIsShownWithoutItsQueryAndItsUser) {
  EXPECT_EQ(shown_target("/a/b"), "/a/b");
  EXPECT_EQ(shown_target("/a@b?key=1?2"), "/a@b?(not shown)");
  EXPECT_EQ(shown_target("/a#key"), "/a#(not shown)");
  EXPECT_EQ(shown_target("http://u:p@shop.example/a@b?x"), "http://(not shown)@shop.example/a@b?(not shown)");
  EXPECT_EQ(shown_target("http://shop.example"), "http://shop.example");
  EXPECT_EQ(shown_target("u:p@shop.example:443"), "(not shown)@shop.example:443");
  EXPECT_EQ(shown_target("*"), "*");
  EXPECT_EQ(shown_target("//u:p@shop.example/a"), "//(not shown)@shop.example/a");
  EXPECT_EQ(shown_target("http:/u:p@shop.example/a"), "http:/(not shown)@shop.example/a");
}

TEST(SecretsTest, AnAccountIsShownWithoutWhatIsHidden) {
  EXPECT_EQ(shown_account("a\\,b,c,d", {"partner", "query:q", "service"}, {"query:q"}), "a\\,b,(not shown),d");
  EXPECT_EQ(shown_account("a\\,b,c", {"partner", "service"}, {}), "a\\,b,c");
  EXPECT_EQ(shown_account("a,b", {"query:q"}, {"query:q"}), "(not shown)") << "rather nothing than the wrong one";
  EXPECT_EQ(shown_account("a\\", {"query:q"}, {"query:q"}), "(not shown)");
}

}  // namespace
}  // namespace weir::explain
