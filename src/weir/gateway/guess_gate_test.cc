// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/guess_gate.h"

#include <gtest/gtest.h>

namespace weir::gateway {
namespace {

using std::chrono::seconds;

limit::Call at(seconds time) { return limit::Call::at(nanoseconds(time).count()); }

TEST(GuessGateTest, AnAddressIsHeldOffWhenItsFailuresAreSpentAndUntilOneComesBack) {
  store::MemoryStore store({.max_accounts = 1000});
  const Guesses guesses({.count = 60, .period = std::chrono::minutes(1), .burst = 3}, store);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(GuessGate(guesses, at(seconds(10))).wait("192.0.2.1"), nanoseconds(0));
    GuessGate(guesses, at(seconds(10))).charge("192.0.2.1");
  }
  EXPECT_EQ(GuessGate(guesses, at(seconds(10))).wait("192.0.2.1"), seconds(1));
  EXPECT_EQ(GuessGate(guesses, at(seconds(10))).wait("192.0.2.2"), nanoseconds(0));
  EXPECT_EQ(GuessGate(guesses, at(seconds(11))).wait("192.0.2.1"), nanoseconds(0));
}

TEST(GuessGateTest, AskingCostsNothingAndAReloadForgetsNothing) {
  store::MemoryStore store({.max_accounts = 1000});
  const config::Guessing two{.count = 2, .period = std::chrono::hours(1), .burst = 2};
  const Guesses before(two, store);
  GuessGate(before, at(seconds(10))).charge("a");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(GuessGate(before, at(seconds(10))).wait("a"), nanoseconds(0));
  const Guesses after(two, store);
  GuessGate(after, at(seconds(10))).charge("a");
  EXPECT_GT(GuessGate(after, at(seconds(10))).wait("a"), nanoseconds(0));
}

}  // namespace
}  // namespace weir::gateway
