// SPDX-License-Identifier: Apache-2.0
//
// What one of several gateways may admit by itself: never more than its share, for any rate.
#include "weir/policy/local_share.h"

#include <gtest/gtest.h>

namespace weir::policy {
namespace {

using limit::Limit;
using limit::Ticks;
using limit::TokenBucket;

constexpr Ticks kSecond = 1'000'000'000;

TokenBucket::Numbers share(const Limit& limit, std::uint32_t gateways) {
  return std::get<TokenBucket>(share_of(limit, gateways).algorithm()).numbers();
}

TEST(LocalShareTest, ABucketsShareIsItsPartOfRateAndBurst) {
  for (const std::int64_t rate : {1, 7, 1000, 100'000, 1'000'000, 999'999'999}) {
    const auto bucket = TokenBucket::create({.count = rate, .period = kSecond, .capacity = 900}).value();
    const auto part = share(Limit(bucket), 3);
    EXPECT_EQ(part.capacity, 300) << rate;
    EXPECT_EQ(static_cast<__int128>(part.count) * kSecond * 3, static_cast<__int128>(rate) * part.period) << rate;
  }
}

TEST(LocalShareTest, AWindowsShareComesInEvenlyOverIt) {
  const auto window = limit::FixedWindow::create(
      {.capacity = 600, .alignment = {.window = 60 * kSecond}, .ticks_per_second = kSecond});
  const auto part = share(Limit(window.value()), 4);
  EXPECT_EQ(part.capacity, 150);
  EXPECT_EQ(part.count * 4 * 60 * kSecond, 600 * part.period);
}

TEST(LocalShareTest, NoShareIsNothing) {
  const auto bucket = TokenBucket::create({.count = 1, .period = kSecond, .capacity = 2}).value();
  EXPECT_EQ(share(Limit(bucket), 5).capacity, 1);
  const auto nothing = TokenBucket::create({.count = 1, .period = kSecond, .capacity = 0}).value();
  EXPECT_EQ(share(Limit(nothing), 5).capacity, 0);
}

}  // namespace
}  // namespace weir::policy
