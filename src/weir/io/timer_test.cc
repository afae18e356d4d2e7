// SPDX-License-Identifier: Apache-2.0
#include "weir/io/timer.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

namespace weir::io {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kSlot{2};  // a slot is about a millisecond; a timer fires at most this late

class Bell final : public Observer {
 public:
  void notify() override { ++rings; }
  int rings = 0;
};

class TimerTest : public testing::Test {
 protected:
  void advance_to(Instant at) {
    now = at;
    wheel.advance(now);
  }

  Instant now{seconds(1000)};
  TimerWheel wheel{now};
  Bell bell;
};

TEST_F(TimerTest, FiresOnceNeverEarlyAndAtMostOneSlotLate) {
  for (const nanoseconds delay :
       {nanoseconds(0), nanoseconds(1), nanoseconds(milliseconds(1)), nanoseconds(milliseconds(37)),
        nanoseconds(seconds(4)), nanoseconds(seconds(5)), nanoseconds(seconds(61))}) {
    Bell own;
    Timer timer(wheel, own);
    const Instant deadline = now + delay;
    timer.set(deadline);
    if (delay > nanoseconds(0)) {
      advance_to(deadline - nanoseconds(1));
      EXPECT_EQ(own.rings, 0) << delay.count();
      EXPECT_TRUE(timer.is_set());
    }
    advance_to(deadline + kSlot);
    EXPECT_EQ(own.rings, 1) << delay.count();
    EXPECT_FALSE(timer.is_set());
    advance_to(now + seconds(100));
    EXPECT_EQ(own.rings, 1);
  }
}

TEST_F(TimerTest, MovesBothWays) {
  Timer timer(wheel, bell);
  timer.set(now + seconds(1));
  timer.set(now + seconds(10));
  advance_to(now + seconds(5));
  EXPECT_EQ(bell.rings, 0);
  timer.set(now + milliseconds(5));
  advance_to(now + milliseconds(5) + kSlot);
  EXPECT_EQ(bell.rings, 1);
}

TEST_F(TimerTest, ClearedAndDestroyedTimersAreSilent) {
  Timer cleared(wheel, bell);
  cleared.set(now + milliseconds(5));
  cleared.clear();
  auto destroyed = std::make_unique<Timer>(wheel, bell);
  destroyed->set(now + milliseconds(5));
  destroyed.reset();
  advance_to(now + seconds(1));
  EXPECT_EQ(bell.rings, 0);
}

class Chain final : public Observer {
 public:
  explicit Chain(TimerWheel& wheel) : timer(wheel, *this), victim(std::make_unique<Timer>(wheel, victim_bell)) {}
  void notify() override {
    ++rings;
    victim.reset();
    if (rings < 3) timer.set(next);
  }
  int rings = 0;
  Instant next;
  Timer timer;
  Bell victim_bell;
  std::unique_ptr<Timer> victim;
};

TEST_F(TimerTest, ObserversMaySetAndDestroyTimersOfTheSameSlot) {
  Chain chain(wheel);
  chain.next = now + milliseconds(5);
  chain.victim->set(now + milliseconds(5));
  chain.timer.set(now + milliseconds(5));
  advance_to(now + milliseconds(20));
  advance_to(now + milliseconds(20));
  advance_to(now + milliseconds(20));
  EXPECT_EQ(chain.rings, 3);
  EXPECT_LE(chain.victim_bell.rings, 1);
}

TEST_F(TimerTest, TheWaitNeverOversleepsTheNextDeadline) {
  EXPECT_EQ(wheel.wait_ms(now, 1000), 1000);
  Timer timer(wheel, bell);
  timer.set(now + milliseconds(100));
  const int wait = wheel.wait_ms(now, 1000);
  EXPECT_GE(wait, 100);
  EXPECT_LE(wait, 103);
  timer.clear();
  EXPECT_EQ(wheel.wait_ms(now, 1000), 1000);
}

TEST_F(TimerTest, ManyRandomTimersAllFireInTheirSlot) {
  std::mt19937 random(20261130);
  std::vector<std::unique_ptr<Bell>> bells;
  std::vector<std::unique_ptr<Timer>> timers;
  std::vector<Instant> deadlines;
  for (int i = 0; i < 2000; ++i) {
    bells.push_back(std::make_unique<Bell>());
    timers.push_back(std::make_unique<Timer>(wheel, *bells.back()));
    for (int moves = static_cast<int>(random() % 3); moves >= 0; --moves) {
      const Instant deadline = now + milliseconds(random() % 20000);
      timers.back()->set(deadline);
      if (moves == 0) deadlines.push_back(deadline);
    }
  }
  const Instant end = now + seconds(21);
  while (now < end) {
    advance_to(now + milliseconds(random() % 300));
    for (std::size_t i = 0; i < timers.size(); ++i) {
      if (deadlines[i] > now) {
        ASSERT_EQ(bells[i]->rings, 0);
      } else if (deadlines[i] + kSlot <= now) {
        ASSERT_EQ(bells[i]->rings, 1);
      }
    }
  }
}

}  // namespace
}  // namespace weir::io
