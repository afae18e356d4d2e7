// SPDX-License-Identifier: Apache-2.0
#include "weir/io/channel.h"

#include <gtest/gtest.h>
#include <openssl/err.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "weir/io/testing/byte_server.h"
#include "weir/io/testing/certificates.h"

namespace weir::io {
namespace {

using testing::Authority;
using testing::ByteServer;
using testing::Peer;
using testing::Validity;
using State = Channel::State;

constexpr auto kPatience = std::chrono::seconds(60);

// The owner of a channel: receives all there is and asks after every notification whether that was it.
class Client final : public Observer {
 public:
  Client(EventLoop& loop, const SocketAddress& address, const TlsContext* tls, const std::string& name)
      : loop_(loop),
        channel_(std::make_unique<Channel>(loop, std::move(*Stream::start_connect(address)), *this, tls, name)) {
    patience_.set(loop.now() + kPatience);
  }

  Channel& channel() { return *channel_; }
  State state() const { return channel_->state(); }
  bool over() const { return state() >= State::kEnded; }
  void free_at_the_end_of_the_turn() { loop_.retire(std::move(channel_)); }

  void run_until(std::function<bool()> done) {
    when(std::move(done));
    loop_.run();
  }
  void when(std::function<bool()> done) { done_ = std::move(done); }

  std::string received;
  Transfer last = Transfer::kWouldBlock;
  std::size_t room = 4096;

 private:
  void notify() override {
    if (!patience_.is_set()) {
      ADD_FAILURE() << "it took too long";
      return loop_.stop();
    }
    if (!channel_) return;
    channel_->advance();
    std::array<char, 4096> bytes;
    for (;;) {
      const auto got = channel_->receive({bytes.data(), room});
      last = got.status;
      if (got.status != Transfer::kDone) break;
      received.append(bytes.data(), got.bytes);
    }
    if (done_()) loop_.stop();
  }

  EventLoop& loop_;
  Timer patience_{loop_.timers(), *this};
  std::unique_ptr<Channel> channel_;
  std::function<bool()> done_ = [] { return false; };
};

std::string pattern(std::size_t size, unsigned seed = 1) {
  std::string text(size, ' ');
  for (char& byte : text) {
    seed = (seed * 1103515245U) + 12345U;
    byte = static_cast<char>(seed >> 16);
  }
  return text;
}

// What both tests in clear and tests with TLS need.
class Scene {
 public:
  Scene() {
    std::signal(SIGPIPE, SIG_IGN);
    authority_.write(ca_file_);
  }
  ~Scene() { ::unlink(ca_file_.c_str()); }

  const Authority& authority() const { return authority_; }
  ByteServer::Context server_tls() const { return ByteServer::tls(authority_.issue("DNS:redis.test,IP:127.0.0.1")); }
  std::shared_ptr<const TlsContext> trusting() const { return *TlsContext::client({.ca_file = ca_file_}); }

 private:
  Authority authority_;
  std::string ca_file_ = ::testing::TempDir() + "weir-channel-" + std::to_string(::getpid()) + ".pem";
};

// In clear and through TLS, with and without batches, a channel behaves the same.
class ChannelTest : public ::testing::TestWithParam<std::tuple<bool, SocketCalls>> {
 protected:
  void SetUp() override {
    if (calls() == SocketCalls::kBatched && !loop.transfers().batch().batched()) GTEST_SKIP() << "no io_uring here";
  }

  bool tls() const { return std::get<0>(GetParam()); }
  SocketCalls calls() const { return std::get<1>(GetParam()); }
  std::unique_ptr<ByteServer> serve(std::function<void(Peer&)> how) const {
    return std::make_unique<ByteServer>(tls() ? scene_.server_tls() : nullptr, std::move(how));
  }
  std::unique_ptr<Client> connect(const SocketAddress& address) {
    return std::make_unique<Client>(loop, address, tls() ? context_.get() : nullptr, "redis.test");
  }

  const SystemClock clock;
  EventLoop loop{clock, calls()};

 private:
  Scene scene_;
  std::shared_ptr<const TlsContext> context_ = scene_.trusting();
};

std::string name_of(const ::testing::TestParamInfo<std::tuple<bool, SocketCalls>>& info) {
  return std::string(std::get<0>(info.param) ? "Tls" : "Clear") +
         (std::get<1>(info.param) == SocketCalls::kBatched ? "Batched" : "Single");
}

INSTANTIATE_TEST_SUITE_P(Ways, ChannelTest,
                         ::testing::Combine(::testing::Bool(),
                                            ::testing::Values(SocketCalls::kSingle, SocketCalls::kBatched)),
                         name_of);

TEST_P(ChannelTest, WhatIsSentBeforeItIsOpenArrives) {
  const auto server = serve([](Peer& peer) { peer.echo(); });
  const auto client = connect(server->address());
  EXPECT_EQ(client->state(), State::kConnecting);
  client->channel().send("PING");
  client->channel().send("\r\n");
  EXPECT_EQ(client->channel().unsent(), 6U);
  client->run_until([&] { return client->received.size() >= 6; });
  EXPECT_EQ(client->received, "PING\r\n");
  EXPECT_EQ(client->state(), State::kOpen);
  EXPECT_EQ(client->channel().unsent(), 0U);
  EXPECT_EQ(client->channel().fault(), "");
}

TEST_P(ChannelTest, SeveralMegabytesGoBothWaysAtOnce) {
  const auto server = serve([](Peer& peer) { peer.echo(); });
  const auto client = connect(server->address());
  const std::string text = pattern(5'000'000);
  client->channel().send(text);
  client->run_until([&] { return client->received.size() >= text.size() || client->over(); });
  EXPECT_TRUE(client->received == text);
}

// The bytes of a send that is under way move when more is appended.
TEST_P(ChannelTest, AppendingWhileSomethingIsQueuedKeepsTheOrder) {
  const auto server = serve([](Peer& peer) { peer.echo(); });
  const auto client = connect(server->address());
  const std::string text = pattern(2'000'000);
  std::size_t at = 0;
  std::size_t piece = 1;
  client->run_until([&] {
    for (int i = 0; i < 5 && at < text.size() && client->channel().unsent() < 400'000; ++i) {
      client->channel().send(std::string_view(text).substr(at, piece));
      at = std::min(at + piece, text.size());
      piece = piece < 50'000 ? (piece * 3) + 1 : 1;
    }
    return client->received.size() >= text.size() || client->over();
  });
  EXPECT_TRUE(client->received == text);
}

TEST_P(ChannelTest, RoomOfOneByteIsEnough) {
  const std::string text = pattern(40'000);
  const auto server = serve([&](Peer& peer) { peer.write(text); });
  const auto client = connect(server->address());
  client->room = 1;
  client->run_until([&] { return client->received.size() >= text.size() || client->over(); });
  EXPECT_TRUE(client->received == text);
}

TEST_P(ChannelTest, ChannelsOfOneLoopDoNotMixTheirBytes) {
  constexpr std::size_t kChannels = 6;
  constexpr std::size_t kSize = 300'000;
  std::vector<std::unique_ptr<ByteServer>> servers;
  std::vector<std::unique_ptr<Client>> clients;
  std::size_t done = 0;
  for (unsigned i = 0; i < kChannels; ++i) {
    servers.push_back(serve([](Peer& peer) { peer.echo(); }));
    Client& client = *clients.emplace_back(connect(servers.back()->address()));
    client.channel().send(pattern(kSize, i));
    client.when([&, finished = false]() mutable {
      if (!finished && (client.received.size() >= kSize || client.over())) finished = ++done > 0;
      return done == kChannels;
    });
  }
  loop.run();
  for (unsigned i = 0; i < kChannels; ++i) EXPECT_TRUE(clients[i]->received == pattern(kSize, i)) << i;
}

TEST_P(ChannelTest, AConnectionThatIsRefusedIsReported) {
  // Bound and not listening: nobody else gets the port, and nobody answers.
  const Descriptor taken(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto any = *SocketAddress::literal("127.0.0.1", 0);
  ASSERT_EQ(::bind(taken.get(), any.get(), any.size()), 0);
  const auto client = connect(SocketAddress::of_socket(taken.get()));
  client->channel().send("PING\r\n");
  client->run_until([&] { return client->over(); });
  EXPECT_EQ(client->state(), State::kBroken);
  EXPECT_EQ(client->channel().fault(), "Connection refused");
  EXPECT_EQ(client->last, Transfer::kBroken);
  EXPECT_EQ(client->channel().unsent(), 6U);
}

TEST_P(ChannelTest, ThePeersEndInOrderShowsAfterItsLastBytes) {
  const std::string text = pattern(100'000);
  const auto server = serve([&](Peer& peer) {
    peer.write(text);
    peer.end();
    peer.read_all();
  });
  const auto client = connect(server->address());
  client->run_until([&] { return client->over(); });
  EXPECT_EQ(client->state(), State::kEnded) << client->channel().fault();
  EXPECT_EQ(client->last, Transfer::kEnded);
  EXPECT_TRUE(client->received == text);
  std::array<char, 8> room;
  EXPECT_EQ(client->channel().receive(room).status, Transfer::kEnded) << "a second time too";
}

TEST_P(ChannelTest, APeerThatResetsIsReportedAfterItsLastBytes) {
  std::promise<void> received;
  const auto server = serve([&](Peer& peer) {
    peer.write("last words");
    received.get_future().wait();
    peer.reset();
  });
  const auto client = connect(server->address());
  client->run_until([&, told = false]() mutable {
    if (!std::exchange(told, told || client->received.size() == 10) && told) received.set_value();
    return client->over();
  });
  EXPECT_EQ(client->state(), State::kBroken);
  EXPECT_EQ(client->channel().fault(), "Connection reset by peer");
  EXPECT_EQ(client->received, "last words");
  client->channel().send("to nobody");
  EXPECT_EQ(client->channel().unsent(), 0U);
}

TEST_P(ChannelTest, ClosingGivesWhatWasSentAndAnEndInOrder) {
  std::string seen;
  bool in_order = false;
  const auto server = serve([&](Peer& peer) {
    seen = peer.read_all();
    in_order = !tls() || peer.saw_end();
  });
  const auto client = connect(server->address());
  client->run_until([&] {
    if (client->state() != State::kOpen) return false;
    client->channel().send("QUIT\r\n");
    client->channel().close();
    EXPECT_EQ(client->state(), State::kBroken);
    EXPECT_EQ(client->channel().unsent(), 0U);
    std::array<char, 8> room;
    EXPECT_EQ(client->channel().receive(room).status, Transfer::kBroken);
    client->channel().advance();
    client->channel().send("x");
    client->channel().close();
    client->free_at_the_end_of_the_turn();
    return true;
  });
  server->wait();
  EXPECT_EQ(seen, "QUIT\r\n");
  EXPECT_TRUE(in_order);
}

class TlsChannelTest : public ::testing::Test {
 protected:
  // Connects, waits until the channel is over or has received as much as a greeting, and says how it stands.
  void meet(ByteServer::Context server, const std::shared_ptr<const TlsContext>& context, const std::string& name,
            const std::function<void(Peer&)>& serve = greet) {
    std::string at_server;
    {
      ByteServer listening(std::move(server), [&](Peer& peer) {
        at_server = peer.fault();
        if (at_server.empty()) serve(peer);
      });
      Client client(loop, listening.address(), context.get(), name);
      client.channel().send("secret");
      client.run_until([&] { return client.over() || client.received == "hello"; });
      fault = client.channel().fault();
      state = client.state();
      received = client.received;
      client.channel().close();
      listening.wait();
    }
    server_fault = at_server;
    EXPECT_EQ(ERR_peek_error(), 0U) << "nothing is left for the next connection";
  }
  static void greet(Peer& peer) {
    peer.write("hello");
    peer.read_all();
  }

  const SystemClock clock;
  EventLoop loop{clock};
  Scene scene;
  State state{};
  std::string fault;
  std::string received;
  std::string server_fault;
};

TEST_F(TlsChannelTest, ANameOfTheCertificateIsAccepted) {
  meet(scene.server_tls(), scene.trusting(), "redis.test");
  EXPECT_EQ(state, State::kOpen) << fault;
}

TEST_F(TlsChannelTest, AnAddressOfTheCertificateIsAccepted) {
  meet(scene.server_tls(), scene.trusting(), "127.0.0.1");
  EXPECT_EQ(state, State::kOpen) << fault;
}

TEST_F(TlsChannelTest, AnotherNameIsRefusedAndTheServerToldSo) {
  meet(scene.server_tls(), scene.trusting(), "other.test");
  EXPECT_EQ(state, State::kBroken);
  EXPECT_EQ(fault, "certificate verify failed: hostname mismatch");
  EXPECT_TRUE(server_fault.contains("alert")) << server_fault;
}

TEST_F(TlsChannelTest, AnotherAddressIsRefused) {
  meet(scene.server_tls(), scene.trusting(), "127.0.0.2");
  EXPECT_EQ(fault, "certificate verify failed: IP address mismatch");
}

TEST_F(TlsChannelTest, AnAuthorityThatIsNotTrustedIsRefused) {
  const Authority unknown;
  meet(ByteServer::tls(unknown.issue("DNS:redis.test")), *TlsContext::client({}), "redis.test");
  EXPECT_EQ(state, State::kBroken);
  EXPECT_EQ(fault, "certificate verify failed: unable to get local issuer certificate");
  EXPECT_TRUE(server_fault.contains("unknown ca")) << server_fault;
}

TEST_F(TlsChannelTest, ACertificateThatIsOutOfDateIsRefused) {
  const Validity past{.from = -7200, .until = -3600};
  meet(ByteServer::tls(scene.authority().issue("DNS:redis.test", past)), scene.trusting(), "redis.test");
  EXPECT_EQ(fault, "certificate verify failed: certificate has expired");
}

TEST_F(TlsChannelTest, WithoutVerificationAnyCertificateIsAccepted) {
  const Authority unknown;
  meet(ByteServer::tls(unknown.issue("DNS:else.test")), *TlsContext::client({.verify = false}), "redis.test");
  EXPECT_EQ(state, State::kOpen) << fault;
  EXPECT_EQ(received, "hello");
}

TEST_F(TlsChannelTest, TheServersNameIsSentInTheHandshake) {
  std::string asked;
  meet(scene.server_tls(), scene.trusting(), "redis.test", [&](Peer& peer) {
    const char* name = SSL_get_servername(peer.session(), TLSEXT_NAMETYPE_host_name);
    asked = name != nullptr ? name : "";
    greet(peer);
  });
  EXPECT_EQ(asked, "redis.test");
}

TEST_F(TlsChannelTest, Tls12IsSpokenAndNothingOlder) {
  const auto identity = scene.authority().issue("DNS:redis.test");
  meet(ByteServer::tls(identity, TLS1_2_VERSION), scene.trusting(), "redis.test");
  EXPECT_EQ(state, State::kOpen) << fault;
}

TEST_F(TlsChannelTest, Tls11IsRefused) {
  const auto identity = scene.authority().issue("DNS:redis.test");
  meet(ByteServer::tls(identity, TLS1_1_VERSION), scene.trusting(), "redis.test");
  EXPECT_EQ(state, State::kBroken);
  EXPECT_TRUE(fault.starts_with("TLS: ")) << fault;
}

TEST_F(TlsChannelTest, AnEndThatWasNotAnnouncedIsAFault) {
  meet(scene.server_tls(), scene.trusting(), "redis.test", [](Peer& peer) {
    peer.write("half of it");
    peer.cut();
    peer.read_all();
  });
  EXPECT_EQ(state, State::kBroken);
  EXPECT_EQ(received, "half of it");
  EXPECT_EQ(fault, "the connection was cut: it ended without the end of TLS");
}

TEST_F(TlsChannelTest, AServerThatSpeaksNoTlsGetsNothingThatIsSecret) {
  std::string seen;
  meet(nullptr, scene.trusting(), "redis.test", [&](Peer& peer) {
    peer.write("-ERR Protocol error\r\n");
    seen = peer.read_all();
  });
  EXPECT_EQ(state, State::kBroken);
  EXPECT_EQ(fault, "TLS: wrong version number");
  EXPECT_FALSE(seen.contains("secret"));
}

TEST_F(TlsChannelTest, AServerThatGoesDuringTheHandshakeIsReported) {
  meet(nullptr, scene.trusting(), "redis.test", [](Peer& peer) {
    std::array<char, 1000> room;
    peer.read(room);
    peer.cut();
    peer.read_all();
  });
  EXPECT_EQ(state, State::kBroken);
  EXPECT_EQ(fault, "the server has ended the connection during the TLS handshake");
}

TEST_F(TlsChannelTest, NewKeysThatTheServerAsksForAreGiven) {
  std::string echoed;
  meet(scene.server_tls(), scene.trusting(), "redis.test", [&](Peer& peer) {
    std::array<char, 6> room;
    peer.read(room);
    SSL_key_update(peer.session(), SSL_KEY_UPDATE_REQUESTED);
    peer.write("hello");
    echoed = peer.read_all();  // what tells of the new keys comes before the end
    EXPECT_TRUE(peer.saw_end());
  });
  EXPECT_EQ(state, State::kOpen) << fault;
  EXPECT_EQ(received, "hello");
  EXPECT_EQ(echoed, "");
}

TEST_F(TlsChannelTest, ANameThatCannotBeVerifiedBreaksItAtOnce) {
  ByteServer server(scene.server_tls(), [](Peer&) {});
  Client client(loop, server.address(), scene.trusting().get(), "");
  EXPECT_EQ(client.state(), State::kBroken);
  EXPECT_EQ(client.channel().fault(), "no certificate can be for the server name ''");
  std::array<char, 8> room;
  EXPECT_EQ(client.channel().receive(room).status, Transfer::kBroken);
}

}  // namespace
}  // namespace weir::io
