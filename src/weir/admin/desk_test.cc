// SPDX-License-Identifier: Apache-2.0
#include "weir/admin/desk.h"

#include <gtest/gtest.h>

#include <future>
#include <vector>

#include "weir/base/clock.h"

namespace weir::admin {
namespace {

// A loop on a thread, with a desk beside it.
class DeskTest : public ::testing::Test {
 protected:
  ~DeskTest() override { end(); }

  void end() {
    desk_.shut();
    loop_.stop();
    if (thread_.joinable()) thread_.join();
  }
  void post(std::function<void()> work) { loop_.post(std::move(work)); }
  // What was done is told in the loop's thread.
  io::Detached ask(int number) {
    auto running = desk_.run([number] { return number * 2; });
    const int answer = co_await running;
    EXPECT_EQ(std::this_thread::get_id(), thread_.get_id());
    answers_.push_back(answer);
    if (answers_.size() == wanted_) done_.set_value();
  }
  io::Detached block(std::shared_future<void> until) {
    auto running = desk_.run([until] {
      until.wait();
      return 0;
    });
    answers_.push_back(co_await running);
    if (answers_.size() == wanted_) done_.set_value();
  }

  io::Detached work(std::promise<void>& began, std::future<void> until, bool& finished) {
    auto running = desk_.run([&] {
      began.set_value();
      until.wait();
      return 1;
    });
    finished = co_await running == 1;
  }

  SystemClock clock_;
  io::EventLoop loop_{clock_};
  Desk desk_{loop_};
  std::vector<int> answers_;
  std::size_t wanted_ = 0;
  std::promise<void> done_;
  std::thread thread_{[this] { loop_.run(); }};
};

TEST_F(DeskTest, WorkIsDoneInItsOrderAndToldInTheLoop) {
  post([this] {
    wanted_ = 10;
    for (int i = 0; i < 10; ++i) ask(i);
  });
  done_.get_future().wait();
  EXPECT_EQ(answers_, (std::vector{0, 2, 4, 6, 8, 10, 12, 14, 16, 18}));
}

TEST_F(DeskTest, ItIsBusyWhenManyWait) {
  std::promise<void> release;
  std::promise<bool> busy;
  post([&] {
    wanted_ = Desk::kMostWaiting;
    block(release.get_future().share());
    for (std::size_t i = 1; i < Desk::kMostWaiting; ++i) ask(1);
    busy.set_value(desk_.is_busy());
  });
  EXPECT_TRUE(busy.get_future().get());
  release.set_value();
  done_.get_future().wait();
  std::promise<bool> after;
  post([&] { after.set_value(desk_.is_busy()); });
  EXPECT_FALSE(after.get_future().get());
}

TEST_F(DeskTest, WhatIsBeingDoneIsFinishedBeforeItShuts) {
  std::promise<void> began;
  std::promise<void> release;
  bool finished = false;
  post([&] { work(began, release.get_future(), finished); });
  began.get_future().wait();
  std::thread other([&] { release.set_value(); });
  end();
  other.join();
  EXPECT_TRUE(finished);
}

}  // namespace
}  // namespace weir::admin
