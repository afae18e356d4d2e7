// SPDX-License-Identifier: Apache-2.0
#include "weir/io/stream.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "weir/io/acceptor.h"
#include "weir/io/event_loop.h"
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

// Whether receives and sends are batched or not, a stream behaves the same.
class StreamTest : public testing::TestWithParam<SocketCalls> {
 protected:
  void SetUp() override {
    if (GetParam() == SocketCalls::kBatched && !TransferBatch(SocketCalls::kBatched).batched()) {
      GTEST_SKIP() << "no io_uring here";
    }
  }
};

std::string name_of(const testing::TestParamInfo<SocketCalls>& info) {
  return info.param == SocketCalls::kBatched ? "Batched" : "Single";
}

INSTANTIATE_TEST_SUITE_P(Calls, StreamTest, testing::Values(SocketCalls::kSingle, SocketCalls::kBatched), name_of);

TEST_P(StreamTest, BytesComeBackWholeWhateverTheKernelsBuffersHold) {
  const SystemClock clock;
  EventLoop loop(clock, GetParam());
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

TEST_P(StreamTest, NothingIsReceivedBeforeAnEventSaysSo) {
  const SystemClock clock;
  EventLoop loop(clock, GetParam());
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

TEST_P(StreamTest, TheEndOfThePeerShowsAfterItsLastBytes) {
  const SystemClock clock;
  EventLoop loop(clock, GetParam());
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

// Calls a function at every notification.
class Calls final : public Observer {
 public:
  explicit Calls(std::function<void()> function) : function_(std::move(function)) {}
  void notify() override { function_(); }

 private:
  std::function<void()> function_;
};

std::string read_all(int descriptor) {
  std::array<char, 65536> room;
  std::string all;
  for (ssize_t got = 0; (got = ::read(descriptor, room.data(), room.size())) > 0;) {
    all.append(room.data(), static_cast<std::size_t>(got));
  }
  return all;
}

// Several streams that echo, on one loop, so that turns have several to receive and to send.
TEST_P(StreamTest, StreamsOfOneTurnDoNotMixTheirBytes) {
  constexpr std::size_t kStreams = 300;  // more than one batch holds
  const SystemClock clock;
  EventLoop loop(clock, GetParam());
  struct Echo {
    Pair pair = socket_pair();
    std::unique_ptr<Calls> calls;
    std::unique_ptr<Stream> stream;
    std::string unsent;
  };
  std::vector<Echo> echoes(kStreams);
  std::size_t done = 0;
  for (std::size_t i = 0; i < kStreams; ++i) {
    Echo& echo = echoes[i];
    echo.calls = std::make_unique<Calls>([&loop, &echo, &done] {
      std::array<char, 100> room;
      if (echo.unsent.empty()) {
        const auto got = echo.stream->receive(room);
        if (got.status != Transfer::kDone) return;
        echo.unsent.assign(room.data(), got.bytes);
      }
      const auto sent = echo.stream->send(echo.unsent);
      echo.unsent.erase(0, sent.bytes);
      if (sent.bytes > 0 && ++done == kStreams) loop.stop();
    });
    echo.stream = std::make_unique<Stream>(loop, std::move(echo.pair.ours), echo.calls.get());
    std::array<char, 1> room;
    ASSERT_EQ(echo.stream->receive(room).status, Transfer::kWouldBlock);  // it wants input
    const std::string text = "stream " + std::to_string(i);
    ASSERT_EQ(::write(echo.pair.theirs.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  loop.run();
  for (std::size_t i = 0; i < kStreams; ++i) {
    EXPECT_EQ(read_all(echoes[i].pair.theirs.get()), "stream " + std::to_string(i));
  }
}

// Two streams of one turn: the first to be told closes the other, whose bytes may have been received already.
TEST_P(StreamTest, AStreamThatAnotherClosesInTheSameTurnIsNotToldAnything) {
  const SystemClock clock;
  EventLoop loop(clock, GetParam());
  std::array<Pair, 2> pairs{socket_pair(), socket_pair()};
  std::array<std::unique_ptr<Stream>, 2> streams;
  int told = 0;
  Calls first([&] {
    ++told;
    streams[1]->close();
    loop.stop();
  });
  Calls second([&] {
    ++told;
    streams[0]->close();
    loop.stop();
  });
  streams[0] = std::make_unique<Stream>(loop, std::move(pairs[0].ours), &first);
  streams[1] = std::make_unique<Stream>(loop, std::move(pairs[1].ours), &second);
  std::array<char, 8> room;
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(streams[i]->receive(room).status, Transfer::kWouldBlock);
    ASSERT_EQ(::write(pairs[i].theirs.get(), "hi", 2), 2);
  }
  loop.run();
  EXPECT_EQ(told, 1);
}

// What arrived while its reader asked for something else is there when it asks, and the rest behind it.
TEST_P(StreamTest, BytesThatNobodyTakesInTheirTurnStay) {
  const SystemClock clock;
  EventLoop loop(clock, GetParam());
  std::array<Pair, 2> pairs{socket_pair(), socket_pair()};
  int told = 0;
  Calls count([&] {
    if (++told == 2) loop.stop();
  });
  Stream one(loop, std::move(pairs[0].ours), &count);
  Stream other(loop, std::move(pairs[1].ours), &count);
  std::array<char, 4000> room;
  ASSERT_EQ(one.receive(room).status, Transfer::kWouldBlock);
  ASSERT_EQ(other.receive(room).status, Transfer::kWouldBlock);
  const std::string text = std::string(3000, 'a') + std::string(3000, 'b');
  ASSERT_EQ(::write(pairs[0].theirs.get(), text.data(), text.size()), 6000);
  ASSERT_EQ(::write(pairs[1].theirs.get(), "x", 1), 1);
  pairs[0].theirs.close();
  loop.run();
  std::string all;
  EXPECT_TRUE(one.readable());
  EXPECT_TRUE(one.peek_ready());
  for (;;) {
    const auto got = one.receive(room);
    if (got.status != Transfer::kDone) {
      EXPECT_EQ(got.status, Transfer::kEnded);
      break;
    }
    all.append(room.data(), got.bytes);
  }
  EXPECT_EQ(all, text);
}

TEST_P(StreamTest, AResetShowsAsBrokenHoweverItIsFound) {
  const SystemClock clock;
  EventLoop loop(clock, GetParam());
  const auto listener = open_listener(*SocketAddress::literal("127.0.0.1", 0), Sharing::kAlone);
  ASSERT_TRUE(listener);
  const auto address = SocketAddress::of_socket(listener->get());
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<Descriptor> peers;
  Calls nothing([] {});
  std::array<char, 8> room;
  for (int i = 0; i < 2; ++i) {
    auto socket = Stream::start_connect(address);
    ASSERT_TRUE(socket);
    streams.push_back(std::make_unique<Stream>(loop, std::move(*socket), &nothing, Stream::Phase::kConnecting));
    peers.emplace_back(::accept(listener->get(), nullptr, nullptr));
    ASSERT_EQ(streams.back()->receive(room).status, Transfer::kWouldBlock);
  }
  for (Descriptor& peer : peers) {
    const linger hard{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(peer.get(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    peer.close();
  }
  int hung_up = 0;
  Calls watch([&] {
    hung_up = 0;
    for (const auto& stream : streams) hung_up += stream->hung_up() ? 1 : 0;
    if (hung_up == 2) loop.stop();
  });
  for (const auto& stream : streams) stream->observe(&watch);
  loop.run();
  for (const auto& stream : streams) {
    EXPECT_EQ(stream->receive(room).status, Transfer::kBroken);
    EXPECT_EQ(stream->receive(room).status, Transfer::kBroken) << "a second time too";
    EXPECT_EQ(stream->send("x").status, Transfer::kBroken);
  }
}

// The bytes of a send may move until the turn ends, if the stream is told.
TEST_P(StreamTest, ALaterSendOfTheSameTurnReplacesTheEarlier) {
  const SystemClock clock;
  EventLoop loop(clock, GetParam());
  Pair pair = socket_pair();
  std::string text = "head";
  std::size_t left = 0;
  Stream* out = nullptr;
  Calls collect([&] {
    left += out->send(text).bytes;
    if (left > 0) loop.stop();
  });
  Stream stream(loop, std::move(pair.ours), &collect);
  out = &stream;
  EXPECT_EQ(stream.send(text).status, Transfer::kWouldBlock);
  text = "head, and a body that needs memory elsewhere";
  EXPECT_EQ(stream.send(text).status, Transfer::kWouldBlock);
  loop.run();
  EXPECT_EQ(left, text.size());
  EXPECT_EQ(read_all(pair.theirs.get()), text);
}

}  // namespace
}  // namespace weir::io
