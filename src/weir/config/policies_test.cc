// SPDX-License-Identifier: Apache-2.0
//
// The key `policies`: its defaults, its URLs, and what is said of wrong ones.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <string>

#include "weir/config/load_for_test.h"
#include "weir/config/sql_url.h"

namespace weir::config {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kRest = R"(
listeners: [{address: 127.0.0.1:0}]
admin: off
upstreams: {u: {url: "http://127.0.0.1:1"}}
services: {s: {upstream: u}}
)";

Policies good(const std::string& policies) { return load_good("policies: " + policies + kRest).policies.value(); }

std::string bad(const std::string& policies) {
  const auto faults = load_bad("policies: " + policies + kRest);
  std::string all;
  for (const Diagnostic& fault : faults) all += fault.message + "|" + fault.suggestion + "\n";
  return all;
}

TEST(PoliciesTest, AreAbsentByDefault) { EXPECT_FALSE(load_good(kRest).policies.has_value()); }

TEST(PoliciesTest, HaveDefaultsForAllButTheUrl) {
  const Policies policies = good("{sql: {url: \"sqlite:policies.db\"}}");
  Policies expected;
  expected.sql.url = {
      .text = "sqlite:policies.db", .path = "policies.db", .server = {}, .user = {}, .password = {}, .database = {}};
  EXPECT_EQ(policies, expected);
  EXPECT_EQ(policies.sql.timeout, seconds(2));
  EXPECT_EQ(policies.budget, milliseconds(20));
}

TEST(PoliciesTest, TakePathsFromTheFolderOfTheFile) {
  const std::string text =
      std::string("policies: {sql: {url: \"sqlite:data/p.db\"}, cache: {snapshot: p.snapshot}}") + kRest;
  const auto loaded = load_text(text, "/etc/weir/weir.yaml", no_environment);
  ASSERT_TRUE(loaded.has_value());
  EXPECT_EQ(loaded->config.policies->sql.url.path, "/etc/weir/data/p.db");
  EXPECT_EQ(loaded->config.policies->cache.snapshot, "/etc/weir/p.snapshot");
}

TEST(PoliciesTest, DecodeTheUrlOfAServerAndKeepItsPasswordOutOfItsText) {
  const SqlUrl url = good(R"({sql: {url: "mysql://we%40ir:s%2Fcret@db.example:3307/weir%20x"}})").sql.url;
  EXPECT_EQ(url.text, "mysql://db.example:3307/weir%20x");
  EXPECT_EQ(url.user, "we@ir");
  EXPECT_EQ(url.password, "s/cret");
  EXPECT_EQ(url.database, "weir x");
  EXPECT_EQ(url.server.host, "db.example");
  EXPECT_EQ(url.server.port, 3307);
  EXPECT_EQ(good("{sql: {url: \"mysql://u:p@[::1]/d\"}}").sql.url.server.port, 3306);
}

TEST(PoliciesTest, TakePasswordsFromTheEnvironment) {
  const auto environment = [](const std::string&) { return std::optional<std::string>("secret"); };
  const std::string text = std::string("policies: {sql: {url: \"mysql://u:${P}@h/d\"}}") + kRest;
  const auto loaded = load_text(text, "weir.yaml", environment);
  ASSERT_TRUE(loaded.has_value());
  EXPECT_EQ(loaded->config.policies->sql.url.password, "secret");
}

TEST(PoliciesTest, SayWhatIsWrongWithAUrl) {
  struct Case {
    std::string url;
    std::string says;
  };
  for (const Case& one : {Case{"policies.db", "there is no scheme"},
                          {"postgres://u:p@h/d", "'postgres' is not a scheme of a database"},
                          {"mariadb://u:p@h/d", "MariaDB is reached with mysql://"},
                          {"sqlite:", "needs the path of a file"},
                          {"sqlite://host/path", "SQLite is a file of this machine"},
                          {"sqlite::memory:", "would be empty at every start"},
                          {"mysql://h/d", "the user is missing"},
                          {"mysql://u:p@h", "the name of the database is missing"},
                          {"mysql://u:p@h/", "the name of the database is missing"},
                          {"mysql://u:p@h/a/b", "is not the name of a database"},
                          {"mysql://u:p@h/d?ssl=1", "is not the name of a database"},
                          {"mysql://u:p@h:0/d", "has no valid port"},
                          {"mysql://u:p@300.1.1.1/d", "has no valid host"},
                          {"mysql://u:p%2@h/d", "needs two hexadecimal digits"}}) {
    const std::string said = bad("{sql: {url: \"" + one.url + "\"}}");
    EXPECT_NE(said.find(one.says), std::string::npos) << one.url << ": " << said;
  }
}

TEST(PoliciesTest, MayHaveKeysAndPlansThatTheFileDoesNotHave) {
  const std::string text = std::string(R"(
policies: {sql: {url: "sqlite:p.db"}}
callers: [{api_key: {header: X-Api-Key}}]
limits: [{name: a, per: [partner], rate: 1/s, by: {plan: {gold: 2/s}}}]
)") + kRest;
  const auto loaded = load_text(text, "weir.yaml", no_environment);
  ASSERT_TRUE(loaded.has_value());
  EXPECT_TRUE(loaded->warnings.empty());
}

TEST(PoliciesTest, NeverTellAPassword) {
  for (const char* url : {"mysql://u:hunter2@h", "mysql://u:hunter2@h:0/d", "mysql://u:hunter2%@h/d",
                          "mysql://u:hunter2@@h/d", "postgres://u:hunter2@h/d", "mysql:u:hunter2@h/d"}) {
    const auto faults = load_bad(std::string("policies: {sql: {url: \"") + url + "\"}}" + kRest);
    for (const Diagnostic& fault : faults) EXPECT_EQ(to_text(fault).find("hunter2"), std::string::npos) << url;
  }
}

TEST(PoliciesTest, SayWhichKeysContradict) {
  const std::string url = R"(sql: {url: "sqlite:p.db")";
  EXPECT_NE(bad("{" + url + ", verify: false}}").find("no meaning with sqlite"), std::string::npos);
  EXPECT_NE(bad("{" + url + ", ca: none.pem}}").find("cannot be read"), std::string::npos);
  EXPECT_NE(bad(R"({sql: {url: "mysql://u:p@h/d", verify: false}})").find("without `ca`"), std::string::npos);
  EXPECT_NE(bad("{" + url + "}, cache: {ttl: 1s, absent_ttl: 2s}}").find("absent_ttl 2s is more than ttl 1s"),
            std::string::npos);
  EXPECT_EQ(good("{" + url + "}, cache: {ttl: 1s}}").cache.absent_ttl, seconds(1));
  EXPECT_NE(bad("{cache: {ttl: 1s}}").find("key 'sql' is required"), std::string::npos);
  EXPECT_NE(bad("{sql: {timeout: 1s}}").find("key 'url' is required"), std::string::npos);
}

}  // namespace
}  // namespace weir::config
