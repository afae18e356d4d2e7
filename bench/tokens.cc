// SPDX-License-Identifier: Apache-2.0
//
// What it costs to know a caller by a token: one that the worker has seen, one that it has not, for each kind of
// signature, and what is refused. A token has nine claims, of which two become attributes. The clock is not read.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "weir/identity/identifier.h"
#include "weir/identity/testing/parsed_request.h"
#include "weir/jose/testing/signer.h"

namespace weir::bench {
namespace {

using jose::Algorithm;

constexpr WallTime kNow{std::chrono::seconds(1'800'000'000)};
constexpr std::size_t kTokens = 4096;

std::string payload(std::size_t number) {
  return R"({"iss":"https://id.example","aud":["open-api","account"],"sub":"248289761001","iat":1799999000,)"
         R"("nbf":1799999000,"exp":1800003600,"scope":"read write","plan":"gold","partner_id":"p)" +
         std::to_string(number) + "\"}";
}

config::Config config_for(Algorithm algorithm) {
  config::JwtCaller caller;
  caller.issuer = "https://id.example";
  caller.audience = "open-api";
  caller.attributes = {{"partner", "partner_id"}, {"plan", "plan"}};
  auto keys =
      jose::KeySet::read(jose::testing::signer_for(algorithm).jwk(R"("kid":"k")"), jose::KeySet::Origin::kFile);
  caller.file_keys = std::make_shared<const jose::KeySet>(std::move(keys.value().keys));
  config::Config config;
  config.callers = {caller};
  return config;
}

// Requests with different tokens, and whatever identifies them.
struct Scene {
  explicit Scene(Algorithm algorithm, std::size_t count) : identifier(config_for(algorithm)) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::string token = jose::testing::signer_for(algorithm).token(algorithm, payload(i), R"("kid":"k")");
      requests.push_back(std::make_unique<identity::testing::ParsedRequest>(
          "GET /products/12345", std::vector<std::string>{"Accept: */*", "Authorization: Bearer " + token}));
    }
  }

  bool ask(std::size_t request) {
    return identifier.identify({requests[request % requests.size()]->head(), peer, kNow, *memory}, caller, why) ==
           identity::Identified::kYes;
  }
  void forget() { memory = std::make_unique<identity::Memory>(identifier.make_memory(counters)); }

  identity::Identifier identifier;
  identity::Counters counters;
  std::unique_ptr<identity::Memory> memory = std::make_unique<identity::Memory>(identifier.make_memory(counters));
  identity::Peer peer = identifier.peer(IpAddress::parse("192.0.2.7"));
  identity::Caller caller;
  identity::Refusal why;
  std::vector<std::unique_ptr<identity::testing::ParsedRequest>> requests;
};

void a_known_token(benchmark::State& state) {
  Scene scene(Algorithm::kEs256, static_cast<std::size_t>(state.range(0)));
  for (std::size_t i = 0; i < scene.requests.size(); ++i) scene.ask(i);
  std::size_t next = 0;
  for (auto _ : state) {
    if (!scene.ask(next++)) state.SkipWithError("refused");
  }
  if (scene.counters.verified.value() != scene.requests.size()) state.SkipWithError("checked again");
}

// Everything is forgotten now and then, outside of what is measured.
void a_new_token(benchmark::State& state, Algorithm algorithm) {
  constexpr std::size_t kDifferent = 64;
  Scene scene(algorithm, kDifferent);
  std::size_t next = 0;
  for (auto _ : state) {
    if (!scene.ask(next)) state.SkipWithError("refused");
    if (++next % kDifferent != 0) continue;
    state.PauseTiming();
    scene.forget();
    state.ResumeTiming();
  }
}

void a_wrong_token_again(benchmark::State& state) {
  Scene scene(Algorithm::kRs256, 1);
  scene.requests.front() = std::make_unique<identity::testing::ParsedRequest>(
      "GET /",
      std::vector<std::string>{"Authorization: Bearer " +
                               jose::testing::Signer::rsa().token(Algorithm::kRs256, payload(0), R"("kid":"k")")});
  for (auto _ : state) benchmark::DoNotOptimize(scene.ask(0));
}

BENCHMARK(a_known_token)->Arg(1)->Arg(kTokens);
BENCHMARK_CAPTURE(a_new_token, RS256, Algorithm::kRs256);
BENCHMARK_CAPTURE(a_new_token, PS256, Algorithm::kPs256);
BENCHMARK_CAPTURE(a_new_token, ES256, Algorithm::kEs256);
BENCHMARK_CAPTURE(a_new_token, ES384, Algorithm::kEs384);
BENCHMARK_CAPTURE(a_new_token, EdDSA, Algorithm::kEdDsa);
BENCHMARK_CAPTURE(a_new_token, HS256, Algorithm::kHs256);
BENCHMARK(a_wrong_token_again);

}  // namespace
}  // namespace weir::bench

BENCHMARK_MAIN();
