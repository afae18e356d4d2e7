// SPDX-License-Identifier: Apache-2.0
//
// Callers that are known by a token, and `guessing`. What is wrong with them is in testdata/diagnostics.golden, but
// for what stands in files of keys.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "weir/config/load_for_test.h"
#include "weir/jose/key_set.h"

namespace weir::config {
namespace {

constexpr const char* kRest = R"(
listeners: [{address: 127.0.0.1:8080}]
upstreams: {u: {url: http://a:1}}
services: {S: {upstream: u}}
)";
constexpr const char* kKeys =
    R"({"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]})";

class TokensTest : public ::testing::Test {
 protected:
  TokensTest() : folder_(std::filesystem::path(::testing::TempDir()) / fmt::format("weir_tokens_{}", ::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~TokensTest() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }

  // The messages of faults, or of warnings where there are none.
  std::vector<std::string> load(const std::string& text, Config& config) {
    auto loaded = load_text(text + kRest, (folder_ / "weir.yaml").string(), no_environment);
    std::vector<std::string> messages;
    for (const Diagnostic& one : loaded ? loaded->warnings : loaded.error()) messages.push_back(one.message);
    good_ = loaded.has_value();
    if (loaded) config = std::move(loaded->config);
    return messages;
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
  bool good_ = false;
};

TEST_F(TokensTest, AFileOfKeysIsReadWithTheConfiguration) {
  write("jwks.json", kKeys);
  Config config;
  EXPECT_TRUE(
      load(R"(callers: [{jwt: {issuer: i, audience: a, keys: jwks.json, attributes: {partner: p.q}}}])", config)
          .empty());
  const auto& caller = std::get<JwtCaller>(config.callers.at(0));
  ASSERT_NE(caller.file_keys, nullptr);
  EXPECT_FALSE(caller.has_url());
  EXPECT_TRUE(caller.file_keys->has_key_for({jose::Algorithm::kEdDsa}));
  EXPECT_EQ(caller.header, "Authorization");
  EXPECT_EQ(caller.leeway, std::chrono::seconds(30));
  EXPECT_EQ(caller.algorithms, jose::Algorithms::all());
  EXPECT_EQ(caller.attributes.at(0).attribute, "partner");
  EXPECT_EQ(caller.attributes.at(0).claim, "p.q");
}

TEST_F(TokensTest, AUrlIsLeftToWhoeverFetchesIt) {
  write("ca.pem", "certificates");
  Config config;
  load(R"(callers: [{jwt: {header: X-T, issuer: i, audience: a, keys: "HTTPS://id/k?x=1", ca: ca.pem, refresh: 1min,
    algorithms: [RS256, PS256], typ: at+jwt, leeway: 0s, cache: 7}}])",
       config);
  const auto& caller = std::get<JwtCaller>(config.callers.at(0));
  EXPECT_TRUE(caller.has_url());
  EXPECT_EQ(caller.keys, "https://id/k?x=1");
  EXPECT_EQ(caller.ca, path("ca.pem"));
  EXPECT_EQ(caller.refresh, std::chrono::minutes(1));
  EXPECT_EQ(caller.algorithms, (jose::Algorithms{jose::Algorithm::kRs256, jose::Algorithm::kPs256}));
  EXPECT_EQ(caller.type, "at+jwt");
  EXPECT_EQ(caller.leeway, nanoseconds(0));
  EXPECT_EQ(caller.cache, 7U);
}

TEST_F(TokensTest, FilesWithoutAUsableKeyAreFaults) {
  const auto message = [this](const std::string& text, const std::string& more = {}) {
    write("keys", text);
    Config config;
    const auto messages = load("callers: [{jwt: {issuer: i, audience: a, keys: keys" + more + "}}]", config);
    EXPECT_FALSE(good_) << text;
    return messages.empty() ? std::string() : messages.front();
  };
  const std::string where = "the keys in '" + path("keys") + "': ";
  EXPECT_EQ(message(""), where + "it is not one JSON object without members that are there twice");
  EXPECT_EQ(message(R"({"keys":[]})"), where + "there is no key in it");
  EXPECT_EQ(message(R"({"keys":[{"kty":"oct","kid":"a","k":"c2hvcnQ"}]})"),
            where + "no key in it can be used (key 'a': a secret of 5 bytes; at least 32 are needed)");
  EXPECT_EQ(message(kKeys, ", algorithms: [RS256]"),
            "no key in '" + path("keys") + "' is for these algorithms, so every token would be refused");
  EXPECT_EQ(message(kKeys, ", refresh: 1min"), "'refresh' has no meaning for keys in a file");
  EXPECT_EQ(message(std::string((1 << 20) + 1, ' ')), "the file '" + path("keys") + "' is larger than 1 MiB");
}

TEST_F(TokensTest, KeysThatAreLeftOutAreWarnings) {
  write("keys", R"({"keys":[{"kty":"oct","k":"c2hvcnQ"},{"kty":"OKP","crv":"Ed25519",)"
                R"("x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]})");
  Config config;
  const auto messages = load("callers: [{jwt: {keys: keys}}]", config);
  ASSERT_TRUE(good_);
  ASSERT_EQ(messages.size(), 3U);
  EXPECT_EQ(messages[2],
            "the keys in '" + path("keys") + "': left out is key 1: a secret of 5 bytes; at least 32 are needed");
}

TEST_F(TokensTest, SeveralIssuersMayUseOneField) {
  Config config;
  EXPECT_TRUE(load(R"(callers:
  - jwt: {issuer: i, audience: a, keys: "https://i/k"}
  - jwt: {issuer: j, audience: a, keys: "https://j/k", header: authorization}
limits: [{name: l, per: ["claim:https://x.example/y", "claim:a.b"], rate: 1/s}])",
                   config)
                  .empty());
  EXPECT_EQ(config.callers.size(), 2U);
  EXPECT_EQ(config.limits.at(0).per.at(0), (PerAttribute{PerAttribute::Source::kClaim, "https://x.example/y"}));
}

TEST_F(TokensTest, GuessingHasADefaultAndCanBeOff) {
  Config config;
  load("", config);
  EXPECT_EQ(config.guessing, (Guessing{60, std::chrono::minutes(1), 60}));
  load("guessing: {rate: 5/h}", config);
  EXPECT_EQ(config.guessing, (Guessing{5, std::chrono::hours(1), 5}));
  load("guessing: {burst: 7}", config);
  EXPECT_EQ(config.guessing, (Guessing{60, std::chrono::minutes(1), 7}));
  load("guessing: off", config);
  EXPECT_EQ(config.guessing, std::nullopt);
}

}  // namespace
}  // namespace weir::config
