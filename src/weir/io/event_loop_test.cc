// SPDX-License-Identifier: Apache-2.0
#include "weir/io/event_loop.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "weir/io/acceptor.h"

namespace weir::io {
namespace {

TEST(EventLoopTest, PostedWorkRunsInOrderOnTheLoopsThread) {
  const SystemClock clock;
  EventLoop loop(clock);
  std::string order;
  std::thread::id where;
  std::thread thread([&] { loop.run(); });
  loop.post([&] { order += 'a'; });
  loop.post([&] {
    order += 'b';
    where = std::this_thread::get_id();
    loop.stop();
  });
  const auto id = thread.get_id();
  thread.join();
  EXPECT_EQ(order, "ab");
  EXPECT_EQ(where, id);
}

TEST(AcceptorTest, ATakenAddressIsAnErrorEvenWhenPortsAreShared) {
  const auto any = SocketAddress::literal("127.0.0.1", 0);
  const auto first = open_listener(*any, Sharing::kFirst);
  ASSERT_TRUE(first);
  const auto address = SocketAddress::of_socket(first->get());
  EXPECT_TRUE(open_listener(address, Sharing::kNext));
  const auto second = open_listener(address, Sharing::kFirst);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("cannot bind 127.0.0.1:"), std::string::npos) << second.error().message;
}

}  // namespace
}  // namespace weir::io
