// SPDX-License-Identifier: Apache-2.0
#include "weir/io/event_loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <thread>

#include "weir/io/acceptor.h"
#include "weir/io/stream.h"
#include "weir/io/task.h"

namespace weir::io {
namespace {

struct Pair {
  Descriptor ours;
  Descriptor theirs;
};

Pair socket_pair() {
  std::array<int, 2> fds{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds.data()), 0);
  return {Descriptor(fds[0]), Descriptor(fds[1])};
}

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

// Reads until the other side ends and sends everything back.
Task<std::size_t> echo(Stream& stream, Waiter& wake) {
  std::size_t total = 0;
  std::array<char, 1000> room;
  for (;;) {
    const auto got = stream.receive(room);
    if (got.status == Transfer::kWouldBlock) {
      co_await wake;
      continue;
    }
    if (got.status != Transfer::kDone) co_return total;
    total += got.bytes;
    for (std::string_view rest(room.data(), got.bytes); !rest.empty();) {
      const auto sent = stream.send(rest);
      if (sent.status == Transfer::kBroken) co_return total;
      rest.remove_prefix(sent.bytes);
      if (!rest.empty()) co_await wake;
    }
  }
}

Detached serve(EventLoop& loop, Stream& stream, Waiter& wake, std::size_t& total) {
  total = co_await echo(stream, wake);
  loop.stop();
}

TEST(StreamTest, BytesComeBackWholeWhateverTheKernelsBuffersHold) {
  const SystemClock clock;
  EventLoop loop(clock);
  Pair pair = socket_pair();
  Waiter wake;
  Stream stream(loop, std::move(pair.ours), &wake);
  std::size_t total = 0;
  constexpr std::size_t kSize = 3'000'000;
  std::string back;
  std::thread peer([&] {
    ::fcntl(pair.theirs.get(), F_SETFL, 0);
    std::thread writer([&] {
      const std::string text(kSize, 'x');
      for (std::size_t at = 0; at < kSize;)
        at += static_cast<std::size_t>(::write(pair.theirs.get(), text.data() + at, kSize - at));
      ::shutdown(pair.theirs.get(), SHUT_WR);
    });
    std::string room(65536, ' ');
    while (back.size() < kSize) {
      const auto got = ::read(pair.theirs.get(), room.data(), room.size());
      if (got <= 0) break;
      back.append(room.data(), static_cast<std::size_t>(got));
    }
    writer.join();
  });
  serve(loop, stream, wake, total);
  loop.run();
  peer.join();
  EXPECT_EQ(total, kSize);
  EXPECT_EQ(back, std::string(kSize, 'x'));
}

class Flag final : public Observer {
 public:
  explicit Flag(EventLoop& loop) : loop_(loop) {}
  void notify() override {
    ++rings;
    loop_.stop();
  }
  int rings = 0;

 private:
  EventLoop& loop_;
};

TEST(StreamTest, NothingIsReceivedBeforeAnEventSaysSo) {
  const SystemClock clock;
  EventLoop loop(clock);
  Pair pair = socket_pair();
  ASSERT_EQ(::write(pair.theirs.get(), "hi", 2), 2);
  Flag flag(loop);
  Stream stream(loop, std::move(pair.ours), &flag);
  std::array<char, 8> room;
  EXPECT_EQ(stream.receive(room).status, Transfer::kWouldBlock);
  EXPECT_TRUE(stream.peek_ready());
  loop.run();
  EXPECT_TRUE(stream.readable());
  const auto got = stream.receive(room);
  EXPECT_EQ(got.bytes, 2U);
  EXPECT_FALSE(stream.readable());
}

TEST(StreamTest, TheEndOfThePeerShowsAfterItsLastBytes) {
  const SystemClock clock;
  EventLoop loop(clock);
  Pair pair = socket_pair();
  ASSERT_EQ(::write(pair.theirs.get(), "bye", 3), 3);
  pair.theirs.close();
  Flag flag(loop);
  Stream stream(loop, std::move(pair.ours), &flag);
  loop.run();
  EXPECT_TRUE(stream.peer_ended());
  std::array<char, 8> room;
  EXPECT_EQ(stream.receive(room).bytes, 3U);
  EXPECT_EQ(stream.receive(room).status, Transfer::kEnded);
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
