// SPDX-License-Identifier: Apache-2.0
//
// A limit in Redis says what the same limit says in this process, on random traces with clocks that jump.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "weir/limit/testing/random_trace.h"
#include "weir/redis/testing/redis_server.h"
#include "weir/store/contract/mixed_contract.h"
#include "weir/store/redis/testing/blocking_store.h"

namespace weir::store {
namespace {

using contract::text_of;
using limit::Kind;
using limit::Limit;
using limit::Outcome;
using limit::Ticks;

constexpr Ticks kMicros = 1'000'000;  // in a second
// Instants of traces may be 0, which is the server's own clock to a script.
constexpr Ticks kLater = Ticks{5} * 365 * 86'400 * kMicros;

class RedisProperty : public ::testing::TestWithParam<Kind> {};

TEST_P(RedisProperty, EqualsTheLimitInThisProcess) {
  static redis::testing::RedisServer server;
  testing::BlockingStore store({{.host = {}, .port = 0, .unix_path = server.unix_path()}}, RedisStore::Clock::kCall);
  const std::int64_t traces = limit::from_environment("WEIR_PROPERTY_STEPS", 100'000) / 7 / limit::kStepsPerTrace;
  const auto first = static_cast<std::uint64_t>(limit::from_environment("WEIR_PROPERTY_SEED", 1)) * 1'000'003;
  for (std::int64_t i = 0; i <= traces && !HasFailure(); ++i) {
    const std::uint64_t seed = first + static_cast<std::uint64_t>(i);
    SCOPED_TRACE("trace seed " + std::to_string(seed));
    limit::Random random(seed);
    const Limit limit = limit::random_limit(GetParam(), random, kMicros);
    limit::RandomTrace trace(limit, random, kMicros);
    const RedisKind kind({.kind = "kind", .slots = {{"limit", {limit}}}});
    const std::string name = std::string(limit::name_of(GetParam())) + std::to_string(i);
    std::array<std::int64_t, Limit::kMaxStateWords> state{};
    Outcome last;
    for (std::int64_t step = 0; step < limit::kStepsPerTrace && !HasFailure(); ++step) {
      trace.move(last);
      const limit::Call call = trace.call();
      const limit::Call moved{
          .now = 0, .wall = (call.wall + kLater) * 1000, .phase = call.phase, .lease = call.lease};
      const limit::Call here{.now = call.now, .wall = moved.wall / 1000, .phase = call.phase, .lease = call.lease};
      limit::Cost cost = trace.cost(last);
      // A lease keeps its cost.
      if (limit.holds<limit::Concurrency>() && cost > 0) cost = 1 + static_cast<limit::Cost>(call.lease.low % 3);
      const std::array<Charge, 1> charges{{{.cost = cost}}};
      std::array<Outcome, 1> there;
      last = limit.step(state, here, charges[0].cost);
      Outcome expected = last;
      if (!limit.holds<limit::FixedWindow>() && !limit.holds<limit::SlidingWindow>() &&
          !limit.holds<limit::CalendarQuota>()) {
        expected.at += here.wall - here.now;
      }
      const Asked asked = store.acquire(kind, name, charges, moved, there);
      ASSERT_NE(asked, Asked::kFailed);
      EXPECT_EQ(text_of(there[0]), text_of(expected)) << "step " << step << ", cost " << charges[0].cost;
    }
    limit.release(state);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, RedisProperty, limit::every_kind(), limit::name_of_param);

}  // namespace
}  // namespace weir::store
