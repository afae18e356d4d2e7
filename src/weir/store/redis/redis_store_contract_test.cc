// SPDX-License-Identifier: Apache-2.0
#include "weir/redis/testing/redis_cluster.h"
#include "weir/redis/testing/redis_server.h"
#include "weir/store/contract/mixed_contract.h"
#include "weir/store/contract/store_contract.h"
#include "weir/store/redis/testing/blocking_store.h"

namespace weir::store::contract {
namespace {

using redis::testing::RedisCluster;
using redis::testing::RedisServer;

// Servers for all tests; every store has names of its own.
struct OneServer {
  static std::vector<redis::Address> seeds() {
    static RedisServer server;
    return {{.host = {}, .port = 0, .unix_path = server.unix_path()}};
  }
};
struct ThreeNodes {
  static std::vector<redis::Address> seeds() {
    static RedisCluster cluster(3);
    return {{.host = "127.0.0.1", .port = cluster.nodes()[0].port(), .unix_path = {}}};
  }
};

// One clock: that of the windows.
template <class Servers>
struct Redis {
  using Kind = std::shared_ptr<const RedisKind>;
  static constexpr Ticks kWallAhead = 0;

  static bool keeps(Ticks ticks_per_second) { return ticks_per_second == kSecond; }
  Kind adopt(const Layout& layout) {
    if (last_ && layout == last_layout_) return last_;
    last_layout_ = layout;
    return last_ = std::make_shared<const RedisKind>(layout);
  }
  bool acquire(const Kind& kind, std::string_view subject, std::span<const Charge> charges, const limit::Call& call,
               std::span<Outcome> outcomes) {
    const Asked asked = store.acquire(*kind, name(subject), charges, later(call), outcomes);
    EXPECT_NE(asked, Asked::kFailed);
    for (Outcome& outcome : outcomes) outcome.at -= kLater;
    return asked == Asked::kAdmitted;
  }
  void adjust(const Kind& kind, std::string_view subject, std::span<const Adjustment> adjustments,
              const limit::Call& call, std::span<Outcome> outcomes) {
    std::vector<Adjustment> moved(adjustments.begin(), adjustments.end());
    for (Adjustment& one : moved) one.at += kLater;
    EXPECT_TRUE(store.adjust(*kind, name(subject), moved, later(call), outcomes));
  }
  bool renew(const Kind& kind, std::string_view subject, std::span<const Charge> charges, const limit::Call& call) {
    return store.renew(*kind, name(subject), charges, later(call)).value();
  }
  void reset(const Kind& kind, std::string_view subject) { EXPECT_TRUE(store.reset(*kind, name(subject))); }

  // Instants of the tests begin at 0, which is the server's own clock to a script. A multiple of all windows.
  static constexpr Ticks kLater = Ticks{999'999} * 20 * kSecond * 60;
  static limit::Call later(limit::Call call) {
    call.wall = (call.wall + kLater) * 1000;  // a gateway's clock has nanoseconds
    return call;
  }
  std::string name(std::string_view subject) const {
    std::string name;
    AccountName writer("test" + std::to_string(number), name);
    writer.add(subject);
    writer.finish();
    return name;
  }

  static inline int numbers = 0;
  const int number = ++numbers;
  testing::BlockingStore store{Servers::seeds(), RedisStore::Clock::kCall};
  Kind last_;
  Layout last_layout_;
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OneConfigurationContract);  // other gateways have theirs
INSTANTIATE_TYPED_TEST_SUITE_P(Redis, StoreContract, Redis<OneServer>);
INSTANTIATE_TYPED_TEST_SUITE_P(Redis, MixedContract, Redis<OneServer>);
INSTANTIATE_TYPED_TEST_SUITE_P(RedisCluster, StoreContract, Redis<ThreeNodes>);
INSTANTIATE_TYPED_TEST_SUITE_P(RedisCluster, MixedContract, Redis<ThreeNodes>);

}  // namespace
}  // namespace weir::store::contract
