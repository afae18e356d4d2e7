// SPDX-License-Identifier: Apache-2.0
#include "weir/io/transfer_batch.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "weir/io/descriptor.h"

namespace weir::io {
namespace {

using Direction = SocketTransfer::Direction;

class TransferBatchTest : public testing::TestWithParam<SocketCalls> {
 protected:
  void SetUp() override {
    if (GetParam() == SocketCalls::kBatched && !batch_.batched()) GTEST_SKIP() << batch_.obstacle();
    for (Ends& ends : ends_) {
      std::array<int, 2> fds{};
      ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds.data()), 0);
      ends = {Descriptor(fds[0]), Descriptor(fds[1])};
    }
  }

  struct Ends {
    Descriptor ours;
    Descriptor theirs;
  };

  TransferBatch batch_{GetParam()};
  std::vector<Ends> ends_{600};
};

std::string name_of(const testing::TestParamInfo<SocketCalls>& info) {
  return info.param == SocketCalls::kBatched ? "Batched" : "Single";
}

INSTANTIATE_TEST_SUITE_P(Calls, TransferBatchTest, testing::Values(SocketCalls::kSingle, SocketCalls::kBatched),
                         name_of);

TEST_P(TransferBatchTest, EveryTransferHasItsOwnResultHoweverManyThereAre) {
  std::vector<std::string> texts(ends_.size());
  std::vector<SocketTransfer> sends;
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    texts[i] = std::string(1 + (i % 50), static_cast<char>('a' + (i % 26)));
    sends.push_back({ends_[i].ours.get(), Direction::kSend, texts[i].data(), texts[i].size()});
  }
  batch_.run(sends);
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    EXPECT_EQ(sends[i].result, static_cast<std::int64_t>(texts[i].size()));
  }
  std::vector<std::array<char, 64>> rooms(ends_.size());
  std::vector<SocketTransfer> receives;
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    receives.push_back({ends_[i].theirs.get(), Direction::kReceive, rooms[i].data(), rooms[i].size()});
  }
  batch_.run(receives);
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    ASSERT_EQ(receives[i].result, static_cast<std::int64_t>(texts[i].size()));
    EXPECT_EQ(std::string(rooms[i].data(), texts[i].size()), texts[i]);
  }
}

TEST_P(TransferBatchTest, NothingWaitsAndFaultsAreTold) {
  std::array<char, 8> room{};
  const auto receive = [&](int socket) {
    return SocketTransfer{socket, Direction::kReceive, room.data(), room.size()};
  };
  ASSERT_EQ(::send(ends_[1].theirs.get(), "ab", 2, 0), 2);
  ends_[2].theirs.close();
  ends_[3].theirs.close();
  std::string text = "x";
  std::vector<SocketTransfer> transfers{receive(ends_[0].ours.get()),
                                        receive(ends_[1].ours.get()),
                                        receive(ends_[2].ours.get()),
                                        {ends_[3].ours.get(), Direction::kSend, text.data(), text.size()},
                                        receive(-1)};
  batch_.run(transfers);
  EXPECT_EQ(transfers[0].result, -EAGAIN);
  EXPECT_EQ(transfers[1].result, 2);
  EXPECT_EQ(transfers[2].result, 0);
  EXPECT_EQ(transfers[3].result, -EPIPE);  // and no signal
  EXPECT_EQ(transfers[4].result, -EBADF);
}

TEST_P(TransferBatchTest, ASendThatFitsInPartSaysHowMuch) {
  const std::string text(16 << 20, 'x');
  std::vector<SocketTransfer> sends;
  for (int i = 0; i < 2; ++i) {
    sends.push_back({ends_[i].ours.get(), Direction::kSend, const_cast<char*>(text.data()), text.size()});
  }
  batch_.run(sends);
  for (const SocketTransfer& send : sends) {
    EXPECT_GT(send.result, 0);
    EXPECT_LT(send.result, static_cast<std::int64_t>(text.size()));
  }
  batch_.run(sends);
  for (const SocketTransfer& send : sends) EXPECT_EQ(send.result, -EAGAIN);
}

}  // namespace
}  // namespace weir::io
