// SPDX-License-Identifier: Apache-2.0
#include "weir/config/load.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "weir/config/load_for_test.h"

namespace weir::config {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;

constexpr const char* kSmallest = R"(
listeners: [{address: 127.0.0.1:8080}]
upstreams: {sauce: {url: "http://sauce"}}
services: {SAUCE: {upstream: sauce}}
)";

TEST(LoadTest, ASmallFileGetsTheDefaultsOfTheLanguage) {
  const Config config = load_good(kSmallest);
  ASSERT_EQ(config.listeners.size(), 1u);
  EXPECT_EQ(config.listeners[0].address, (Endpoint{"127.0.0.1:8080", "127.0.0.1", 8080, ""}));
  ASSERT_TRUE(config.admin);
  EXPECT_EQ(config.admin->address, (Endpoint{"127.0.0.1:9090", "127.0.0.1", 9090, ""}));
  EXPECT_FALSE(config.admin->token);
  EXPECT_TRUE(config.trusted_proxies.empty());
  EXPECT_EQ(config.ipv6_prefix, 64);
  ASSERT_EQ(config.upstreams.size(), 1u);
  EXPECT_EQ(config.upstreams[0].name, "sauce");
  EXPECT_EQ(config.upstreams[0].endpoints, (std::vector{Endpoint{"http://sauce", "sauce", 80, ""}}));
  EXPECT_TRUE(config.upstreams[0].preserve_host);
  EXPECT_EQ(config.upstreams[0].max_running, 1024u);
  EXPECT_EQ(config.upstreams[0].timeouts.connect, 1s);
  EXPECT_EQ(config.upstreams[0].timeouts.response, 30s);
  EXPECT_EQ(config.upstreams[0].timeouts.idle, 60s);
  ASSERT_EQ(config.services.size(), 1u);
  EXPECT_EQ(config.services[0].name, "SAUCE");
  EXPECT_EQ(config.services[0].upstream, 0u);
  EXPECT_TRUE(config.services[0].hosts.empty());
  EXPECT_EQ(config.services[0].paths, std::vector<std::string>{"/"});
  EXPECT_FALSE(config.services[0].max_body);
  EXPECT_TRUE(config.callers.empty());
  EXPECT_TRUE(config.keys.empty());
  EXPECT_FALSE(config.identify_required);
  EXPECT_TRUE(config.bypass.empty());
  EXPECT_TRUE(config.limits.empty());
  EXPECT_EQ(config.store.max_accounts, 10'000'000u);
  EXPECT_EQ(config.gateways, 1u);
  EXPECT_EQ(config.workers, 0u);
  EXPECT_EQ(config.log.access, "stdout");
  EXPECT_EQ(config.log.level, Log::Level::kInfo);
  EXPECT_EQ(config.responses.refusal_detail, "Too many requests. Try again in {retry_after} s.");
}

TEST(LoadTest, EveryKeyOutsideOfLimitsReachesItsMember) {
  const Config config = load_good(R"(
listeners:
  - {address: "0.0.0.0:0"}
  - {address: "[::1]:8081"}
  - {address: unix:run/weir.sock}
admin: off
trusted_proxies: [10.0.0.0/8, 2001:db8::1]
ipv6_prefix: 56
upstreams:
  one: {url: "http://[::1]:81", preserve_host: false, timeouts: {connect: 250ms, response: 2min, idle: 1h}, max_running: 7}
  many: {urls: [http://10.0.0.1:3000/, unix:/run/app.sock]}
services:
  A: {upstream: many, hosts: [Open.Example.com., "[::1]"], paths: [/products/, /a%2Fb], max_body: 64KiB}
  B: {upstream: one, max_body: unlimited}
callers:
  - api_key: {header: X-Api-Key}
  - header: {name: X-User-Id, attribute: user}
  - header: {name: X-Tenant, attribute: tenant, from: anyone}
keys:
  - {key: demo-acme, partner: acme, plan: free}
  - {key_sha256: 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae, partner: 42}
identify: required
bypass:
  - {header: {X-User-Role: ADMIN}}
  - {header: {X-Debug: "1"}, from: anyone}
  - {address: [192.0.2.0/24, "::1"]}
store: {memory: {max_accounts: 1000}, gateways: 3}
responses:
  {x_ratelimit: false, ratelimit: legacy, reset: delta, merge: keep, refusal: {detail: "Wait {retry_after} s."}}
log: {level: debug, access: off}
http:
  max_target: 4KiB
  max_head: 32KiB
  max_fields: 50
  max_requests: 10
  max_connections: 20
  underscores: drop
  authority: replace
  head: 1s
  idle: 2s
  body: 3s
  body_min_rate: 1KiB
  write: 4s
shutdown: {delay: 5s, timeout: 1min}
workers: 4
)");
  EXPECT_EQ(config.listeners[0].address, (Endpoint{"0.0.0.0:0", "0.0.0.0", 0, ""}));
  EXPECT_EQ(config.listeners[1].address, (Endpoint{"[::1]:8081", "::1", 8081, ""}));
  EXPECT_EQ(config.listeners[2].address, (Endpoint{"unix:run/weir.sock", "", 0, "run/weir.sock"}));
  EXPECT_FALSE(config.admin);
  EXPECT_EQ(config.trusted_proxies, (std::vector{*IpNetwork::parse("10.0.0.0/8"), *IpNetwork::parse("2001:db8::1")}));
  EXPECT_EQ(config.ipv6_prefix, 56);
  EXPECT_EQ(config.upstreams[0].endpoints, (std::vector{Endpoint{"http://[::1]:81", "::1", 81, ""}}));
  EXPECT_FALSE(config.upstreams[0].preserve_host);
  EXPECT_EQ(config.upstreams[0].max_running, 7u);
  EXPECT_EQ(config.upstreams[0].timeouts.connect, 250ms);
  EXPECT_EQ(config.upstreams[0].timeouts.response, 2min);
  EXPECT_EQ(config.upstreams[0].timeouts.idle, 1h);
  EXPECT_EQ(config.upstreams[1].endpoints, (std::vector{Endpoint{"http://10.0.0.1:3000/", "10.0.0.1", 3000, ""},
                                                        Endpoint{"unix:/run/app.sock", "", 0, "/run/app.sock"}}));
  EXPECT_EQ(config.services[0].upstream, 1u);
  EXPECT_EQ(config.services[0].hosts, (std::vector<std::string>{"open.example.com", "[::1]"}));
  EXPECT_EQ(config.services[0].paths, (std::vector<std::string>{"/products", "/a%2Fb"}));
  EXPECT_EQ(config.services[0].max_body, 65536u);
  EXPECT_FALSE(config.services[1].max_body);
  EXPECT_TRUE(config.identify_required);
  EXPECT_EQ(config.store.max_accounts, 1000u);
  EXPECT_EQ(config.gateways, 3u);
  EXPECT_FALSE(config.responses.x_ratelimit);
  EXPECT_EQ(config.responses.ratelimit, RateLimitFields::kLegacy);
  EXPECT_EQ(config.responses.reset, ResetFormat::kDelta);
  EXPECT_EQ(config.responses.merge, Merge::kKeep);
  EXPECT_EQ(config.responses.refusal_detail, "Wait {retry_after} s.");
  EXPECT_EQ(config.log.level, Log::Level::kDebug);
  EXPECT_EQ(config.log.access, "off");
  EXPECT_EQ(config.http.max_target, 4096u);
  EXPECT_EQ(config.http.max_head, 32768u);
  EXPECT_EQ(config.http.max_fields, 50u);
  EXPECT_EQ(config.http.max_requests, 10u);
  EXPECT_EQ(config.http.max_connections, 20u);
  EXPECT_TRUE(config.http.drop_underscores);
  EXPECT_TRUE(config.http.target_authority_wins);
  EXPECT_EQ(config.http.head_timeout, 1s);
  EXPECT_EQ(config.http.idle_timeout, 2s);
  EXPECT_EQ(config.http.body_timeout, 3s);
  EXPECT_EQ(config.http.body_min_rate, 1024u);
  EXPECT_EQ(config.http.write_timeout, 4s);
  EXPECT_EQ(config.shutdown.delay, 5s);
  EXPECT_EQ(config.shutdown.timeout, 1min);
  EXPECT_EQ(config.workers, 4u);
}

TEST(LoadTest, CallersKeysAndBypassesKeepTheOrderOfTheFile) {
  const Config config = load_good(std::string(kSmallest) + R"(
trusted_proxies: [10.0.0.0/8]
callers:
  - header: {name: X-User-Id, attribute: user}
  - api_key: {header: X-Api-Key}
  - header: {name: X-Tenant, attribute: tenant, from: anyone}
keys:
  - {key: demo-acme, partner: acme, plan: free}
  - {key_sha256: 2C26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae, partner: 42}
bypass:
  - {address: [192.0.2.0/24]}
  - {header: {X-User-Role: ADMIN}}
  - {header: {X-Debug: "1"}, from: anyone}
)");
  const auto& user = std::get<HeaderCaller>(config.callers.at(0));
  EXPECT_EQ(user.header, "X-User-Id");
  EXPECT_EQ(user.attribute, "user");
  EXPECT_EQ(user.from, TrustedFrom::kTrustedProxies);
  EXPECT_EQ(std::get<ApiKeyCaller>(config.callers.at(1)).header, "X-Api-Key");
  EXPECT_EQ(std::get<HeaderCaller>(config.callers.at(2)).from, TrustedFrom::kAnyone);

  EXPECT_EQ(std::get<std::string>(config.keys.at(0).key), "demo-acme");
  EXPECT_EQ(config.keys[0].partner, "acme");
  EXPECT_EQ(config.keys[0].plan, "free");
  const auto& digest = std::get<1>(config.keys.at(1).key);
  EXPECT_EQ(digest.front(), 0x2c);
  EXPECT_EQ(digest.back(), 0xae);
  EXPECT_EQ(config.keys[1].partner, "42");
  EXPECT_FALSE(config.keys[1].plan);

  EXPECT_EQ(std::get<AddressBypass>(config.bypass.at(0)).networks, std::vector{*IpNetwork::parse("192.0.2.0/24")});
  const auto& role = std::get<HeaderBypass>(config.bypass.at(1));
  EXPECT_EQ(role.header, "X-User-Role");
  EXPECT_EQ(role.value, "ADMIN");
  EXPECT_EQ(role.from, TrustedFrom::kTrustedProxies);
  EXPECT_EQ(std::get<HeaderBypass>(config.bypass.at(2)).from, TrustedFrom::kAnyone);
}

TEST(LoadTest, TheOrderOfTheSectionsInTheFileDoesNotMatter) {
  const Config config = load_good(R"(
limits: [{name: a, per: [user], services: [B], rate: 1/s}]
callers: [{header: {name: X-User, attribute: user}}]
services: {A: {upstream: two, paths: [/a]}, B: {upstream: one, paths: [/b]}}
upstreams: {one: {url: "http://one"}, two: {url: "http://two"}}
trusted_proxies: [10.0.0.0/8]
listeners: [{address: 127.0.0.1:8080}]
)");
  EXPECT_EQ(config.services[0].upstream, 1u);
  EXPECT_EQ(config.services[1].upstream, 0u);
  EXPECT_EQ(config.limits[0].services, std::vector<std::size_t>{1});
}

TEST(LoadTest, AllFaultsComeAtOnceInTheOrderOfTheFile) {
  const auto faults = load_bad(R"(workers: many
limits: [{name: a, per: [nobody], rate: 1/x}]
services: {S: {upstream: other}}
upstreams: {u: {url: nothing}}
listeners: [{address: here}]
)");
  std::vector<int> lines;
  for (const Diagnostic& fault : faults) lines.push_back(fault.line);
  EXPECT_EQ(lines, (std::vector{1, 2, 2, 3, 4, 5}));
}

TEST(LoadTest, VariablesAreReplacedInValuesAndNeverChangeTheStructure) {
  const std::map<std::string, std::string> variables{
      {"PORT", "8080"}, {"NAME", "{a: b}\nc: d # x"}, {"AGAIN", "${PORT}"}, {"N", "7"}, {"EMPTY", ""}};
  const auto loaded = load_text(R"(
listeners: [{address: "127.0.0.1:${PORT}"}]
upstreams: {u: {url: "http://a${EMPTY}"}}
services: {S: {upstream: u}}
callers: [{api_key: {header: X-Api-Key}}]
keys: [{key: "${AGAIN}", partner: "a$b $${PORT} ${N}${N}"}]
ipv6_prefix: "6${EMPTY}4"
workers: ${N}
)",
                                "weir.yaml", [&](const std::string& name) -> std::optional<std::string> {
                                  const auto found = variables.find(name);
                                  return found == variables.end() ? std::nullopt : std::optional(found->second);
                                });
  ASSERT_TRUE(loaded) << to_text(loaded.error().front());
  EXPECT_EQ(loaded->config.listeners[0].address.port, 8080);
  EXPECT_EQ(loaded->config.upstreams[0].endpoints[0].host, "a");
  EXPECT_EQ(std::get<std::string>(loaded->config.keys[0].key), "${PORT}");
  EXPECT_EQ(loaded->config.keys[0].partner, "a$b ${PORT} 77");
  EXPECT_EQ(loaded->config.ipv6_prefix, 64);
  EXPECT_EQ(loaded->config.workers, 7u);

  const auto faults = load_text(std::string(kSmallest) + "log: ${NAME}\n", "weir.yaml",
                                [&](const std::string&) { return std::optional<std::string>("{level: debug}"); });
  ASSERT_FALSE(faults);
  EXPECT_EQ(faults.error().front().message, "expected a map (log), found a single value");
}

TEST(LoadTest, VariablesInKeysAreNotReplaced) {
  const auto faults = load_bad(std::string(kSmallest) + "${NAME}: 1\n");
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].message, "unknown key '${NAME}' in the file");
}

std::string with_redis(const std::string& redis) { return kSmallest + ("store: {redis: {" + redis + "}}\n"); }

TEST(LoadTest, RedisGetsTheDefaultsOfTheLanguage) {
  EXPECT_FALSE(load_good(kSmallest).redis);
  const Config config = load_good(with_redis("urls: [redis://127.0.0.1]"));
  ASSERT_TRUE(config.redis);
  const RedisUrl expected{.server = {"redis://127.0.0.1", "127.0.0.1", 6379, ""},
                          .tls = false,
                          .user = "",
                          .password = "",
                          .database = 0};
  EXPECT_EQ(config.redis->urls, std::vector{expected});
  EXPECT_EQ(config.redis->cluster, Redis::Cluster::kAuto);
  EXPECT_EQ(config.redis->prefix, "weir");
  EXPECT_EQ(config.redis->budget, 20ms);
  EXPECT_EQ(config.redis->clock, Redis::Clock::kStore);
  EXPECT_EQ(config.redis->lease_max, 0u);
  EXPECT_EQ(config.redis->ca, "");
  EXPECT_TRUE(config.redis->verify);
}

TEST(LoadTest, EveryKeyOfRedisReachesItsMember) {
  const Config config = load_good(with_redis(
      "urls: [rediss://one, rediss://two:7000], cluster: on, prefix: \"a:b\", budget: 1ms, clock: gateway, "
      "lease: {max: 0}, tls: {ca: /dev/zero, verify: false}"));
  ASSERT_TRUE(config.redis);
  EXPECT_EQ(config.redis->urls.size(), 2u);
  EXPECT_EQ(config.redis->cluster, Redis::Cluster::kOn);
  EXPECT_EQ(config.redis->prefix, "a:b");
  EXPECT_EQ(config.redis->budget, 1ms);
  EXPECT_EQ(config.redis->clock, Redis::Clock::kGateway);
  EXPECT_EQ(config.redis->lease_max, 0u);
  EXPECT_EQ(config.redis->ca, "/dev/zero");
  EXPECT_FALSE(config.redis->verify);
}

TEST(LoadTest, ARedisUrlIsTakenApart) {
  const std::map<std::string, RedisUrl> cases{
      {"redis://name:1", {{"redis://name:1", "name", 1, ""}, false, "", "", 0}},
      {"redis://name/", {{"redis://name/", "name", 6379, ""}, false, "", "", 0}},
      {"rediss://[::1]:7000/0", {{"rediss://[::1]:7000/0", "::1", 7000, ""}, true, "", "", 0}},
      {"redis://[::1]/15", {{"redis://[::1]/15", "::1", 6379, ""}, false, "", "", 15}},
      {"redis://:secret@name", {{"redis://name", "name", 6379, ""}, false, "", "secret", 0}},
      {"rediss://me:a:b@name/2", {{"rediss://name/2", "name", 6379, ""}, true, "me", "a:b", 2}},
      {"redis://m%65:%40%2f%25%C3%A4@name", {{"redis://name", "name", 6379, ""}, false, "me", "@/%\xc3\xa4", 0}},
      {"unix:/run/redis.sock", {{"unix:/run/redis.sock", "", 0, "/run/redis.sock"}, false, "", "", 0}},
      {"unix:run/a@b.sock", {{"unix:run/a@b.sock", "", 0, "run/a@b.sock"}, false, "", "", 0}},
      {"unix:///run/redis.sock", {{"unix:/run/redis.sock", "", 0, "/run/redis.sock"}, false, "", "", 0}},
      {"unix://me:a%40b@/redis.sock", {{"unix:/redis.sock", "", 0, "/redis.sock"}, false, "me", "a@b", 0}},
  };
  for (const auto& [text, expected] : cases) {
    const Config config = load_good(with_redis("urls: [\"" + text + "\"]"));
    ASSERT_TRUE(config.redis) << text;
    EXPECT_EQ(config.redis->urls, std::vector{expected}) << text;
  }
}

// The form is right or wrong in many ways, and the fault in the URL or beside it.
TEST(LoadTest, NoDiagnosticRepeatsAPassword) {
  for (const std::string url :
       {"redis://me:SECRET@a:x", "redis://:SECRET@", "redis://SECRET@a", "redis://me:%SECRET@a",
        "redis://me:SECRET/x@a", "redis://me:SECRET@x@a", "redis://me:SECRET x@a", "redis://me:SECRET@a/x",
        "redis://a:1, redis://me:SECRET@a:99999", "redis://me:SECRET@a, redis://me:SECRET@a",
        "redis://me:SECRET@a, redis://a:6379", "http://me:SECRET@a", "me:SECRET@a", "redis:me:SECRET@a",
        "unix://me:SECRET@a/run", "unix://me:SECRET@", "redis://me:SECRET\xc3\xa4@a/9, redis://b"}) {
    const std::string list = "urls: [" + url + "], bugdet: 1ms";
    const auto faults = load_bad(with_redis(list));
    EXPECT_FALSE(faults.empty()) << url;
    for (const Diagnostic& fault : faults) {
      EXPECT_EQ((fault.message + fault.suggestion + fault.source_line).find("SECRET"), std::string::npos)
          << to_text(fault);
    }
  }
}

TEST(LoadTest, NoDiagnosticRepeatsAKeyOrWhatABypassIsKnownBy) {
  const std::string base = R"({upstreams: {u: {url: "http://a:1"}}, services: {S: {upstream: u}}, )";
  for (const std::string rest : {"keys: [{key: SECRET, bogus: 1}]", "keys: [{key: 'SECRET', partner: a, plan: ''}]",
                                 "wrong: 1, keys: [{key: SECRET, partner: a}]", "bypass: [{header: {X-A: SECRET}}]",
                                 "bypass: [{header: {X-A: SECRET, X-B: SECRET}, from: anyone}]",
                                 "keys: [{key: SECRET, partner: a}, {key: SECRET, partner: b}]"}) {
    const auto faults = load_bad(base + rest + "}");
    EXPECT_FALSE(faults.empty()) << rest;
    for (const Diagnostic& fault : faults) {
      EXPECT_EQ((fault.message + fault.suggestion + fault.source_line).find("SECRET"), std::string::npos)
          << to_text(fault);
    }
  }
}

TEST(LoadTest, APasswordFromTheEnvironmentIsNotRepeatedEither) {
  const auto loaded = load_text(with_redis("urls: [\"redis://me:${PASSWORD}@a:b\"]"), "weir.yaml",
                                [](const std::string&) { return std::optional<std::string>("SEC@RET"); });
  ASSERT_FALSE(loaded);
  for (const Diagnostic& fault : loaded.error()) EXPECT_EQ(to_text(fault).find("RET"), std::string::npos);
}

class TokenFileTest : public testing::Test {
 protected:
  TokenFileTest() : folder_(std::filesystem::path(testing::TempDir()) / "weir_token_file_test") {
    std::filesystem::create_directories(folder_);
  }
  ~TokenFileTest() override { std::filesystem::remove_all(folder_); }

  auto load_with_token(const std::string& content) {
    std::ofstream(folder_ / "admin.token", std::ios::binary) << content;
    std::ofstream(folder_ / "weir.yaml") << kSmallest << "admin: {address: 0.0.0.0:9090, token_file: admin.token}\n";
    return load_file(folder_ / "weir.yaml", no_environment);
  }

  std::filesystem::path folder_;
};

TEST_F(TokenFileTest, TheTokenIsReadFromBesideTheConfiguration) {
  const auto loaded = load_with_token("s3cret\n");
  ASSERT_TRUE(loaded) << to_text(loaded.error().front());
  EXPECT_EQ(loaded->config.admin->token, "s3cret");
}

TEST_F(TokenFileTest, TheAuthoritiesOfRedisAreFoundBesideTheConfigurationToo) {
  std::ofstream(folder_ / "weir.yaml") << with_redis("urls: [rediss://a], tls: {ca: ca.pem}");
  const auto absent = load_file(folder_ / "weir.yaml", no_environment);
  ASSERT_FALSE(absent);
  EXPECT_TRUE(absent.error().front().message.ends_with("cannot be read: No such file or directory"));

  std::ofstream(folder_ / "ca.pem") << "";
  const auto empty = load_file(folder_ / "weir.yaml", no_environment);
  ASSERT_FALSE(empty);
  EXPECT_TRUE(empty.error().front().message.ends_with("ca.pem' is empty"));

  std::ofstream(folder_ / "ca.pem") << "certificates";
  const auto loaded = load_file(folder_ / "weir.yaml", no_environment);
  ASSERT_TRUE(loaded) << to_text(loaded.error().front());
  EXPECT_EQ(loaded->config.redis->ca, folder_ / "ca.pem");
}

TEST_F(TokenFileTest, TokensThatNobodyCouldSendAreRefused) {
  for (const std::string& content :
       {std::string("\n"), std::string("two\nlines\n"), std::string("umlaut \xc3\xa4"), std::string(5000, 'a')}) {
    const auto loaded = load_with_token(content);
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().size(), 1u);
    EXPECT_EQ(loaded.error().front().line, 5);
    EXPECT_TRUE(loaded.error().front().message.starts_with("the file '")) << loaded.error().front().message;
  }
}

TEST(LoadTest, AFileThatCannotBeReadIsOneFaultWithoutALine) {
  const auto loaded = load_file("/no/such/weir.yaml", no_environment);
  ASSERT_FALSE(loaded);
  ASSERT_EQ(loaded.error().size(), 1u);
  EXPECT_EQ(to_text(loaded.error().front()),
            "/no/such/weir.yaml: error: cannot be read: No such file or directory\n");
  EXPECT_FALSE(load_file(testing::TempDir(), no_environment));
}

TEST(LoadTest, DiagnosticsAreAlsoJson) {
  const auto faults = load_bad(std::string(kSmallest) + "wrokers: \"\xc3\xa4\"\n");
  EXPECT_EQ(to_json(faults), R"([
  {
    "severity": "error",
    "file": "weir.yaml",
    "line": 5,
    "column": 1,
    "message": "unknown key 'wrokers' in the file",
    "source_line": "wrokers: \"ä\"",
    "suggestion": "did you mean 'workers'?"
  }
])");
}

TEST(LoadTest, AMessageIsOneShortLineWhateverTheFileHolds) {
  const auto faults = load_bad(std::string(kSmallest) + "\"a\\nb" + std::string(10'000, 'x') + "\": 1\n");
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].message.find('\n'), std::string::npos);
  EXPECT_LT(faults[0].message.size(), 500u);
  EXPECT_LE(faults[0].source_line.size(), 500u);
}

TEST(LoadTest, SuggestionsEndBeforeTheyTakeTime) {
  std::string upstreams, services;
  for (int i = 0; i < 900; ++i) {
    const std::string number = std::to_string(i);
    upstreams += "up" + number + ": {url: \"http://a:1\"}, ";
    services += "  S" + number + ": {upstream: uq" + number + ", paths: [/" + number + "]}\n";
  }
  const auto faults =
      load_bad("listeners: [{address: unix:s}]\nupstreams: {" + upstreams + "}\nservices:\n" + services);
  ASSERT_EQ(faults.size(), 900u);
  EXPECT_EQ(faults.front().suggestion, "did you mean 'up0'?");
  EXPECT_EQ(faults.back().message, "there is no upstream 'uq899'");
  EXPECT_EQ(faults.back().suggestion, "");
}

// The page that fixes the language, where it is at hand.
TEST(LoadTest, TheExampleOfTheLanguageHasNoUnknownWord) {
  std::ifstream page(WEIR_SOURCE_DIR "/../shared/config.md");
  if (!page) GTEST_SKIP() << "../shared/config.md is not there";
  std::string example;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("```")) {
      if (inside) break;
      inside = true;
    } else if (inside) {
      example += line + '\n';
    }
  }
  for (const Diagnostic& fault : load_bad(example)) {
    if (fault.severity == Severity::kWarning) continue;
    const bool later = fault.message.ends_with(" is not available in this version of weir");
    const bool file = fault.message.starts_with("the file '") && fault.message.contains("' cannot be read");
    EXPECT_TRUE(later || file) << to_text(fault);
  }
}

TEST(LoadTest, EndlessFaultsAreCutOff) {
  std::string file = kSmallest;
  for (int i = 0; i < 5000; ++i) file += "key" + std::to_string(i) + ": 1\n";
  const auto faults = load_bad(file);
  EXPECT_EQ(faults.size(), 1001u);
  EXPECT_EQ(faults.back().message, "too many faults; the rest is not shown");
}

}  // namespace
}  // namespace weir::config
