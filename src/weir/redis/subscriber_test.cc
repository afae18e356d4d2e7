// SPDX-License-Identifier: Apache-2.0
#include "weir/redis/subscriber.h"

#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "weir/redis/client.h"
#include "weir/redis/testing/redis_cluster.h"
#include "weir/redis/testing/redis_server.h"

namespace weir::redis {
namespace {

using std::chrono::milliseconds;
using testing::eventually;
using testing::RedisCluster;
using testing::RedisServer;

constexpr auto kGrain = milliseconds(10);

Address at(const RedisServer& server) { return {.host = "127.0.0.1", .port = server.port(), .unix_path = {}}; }

std::vector<io::SocketAddress> resolve(const Address& address) {
  const auto found = address.unix_path.empty() ? io::SocketAddress::literal(address.host, address.port)
                                               : io::SocketAddress::unix_path(address.unix_path);
  return found ? std::vector{*found} : std::vector<io::SocketAddress>();
}

// A subscriber on a loop of its own, whose clock moves only when the test says so.
class Listener {
 public:
  explicit Listener(std::vector<Address> servers, NodeSettings settings = {})
      : servers_(std::move(servers)), settings_(std::move(settings)), loop_(clock_) {
    settings_.resolve = resolve;
    thread_ = std::thread([this] { loop_.run(); });
    run([this] { subscriber_.start(); });
  }
  ~Listener() {
    run([this] { subscriber_.shut(); });
    EXPECT_EQ(counters.subscriptions.value(), 0);
    EXPECT_EQ(counters.live_subscriptions.value(), 0);
    loop_.stop();
    thread_.join();
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  void run(const std::function<void()>& work) {
    std::promise<void> done;
    loop_.post([&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }
  void pass(nanoseconds time) {
    run([&] { clock_.advance(time); });
  }
  bool live() {
    bool live = false;
    run([&] { live = subscriber_.live(); });
    return live;
  }
  // Time passes meanwhile.
  void wait_until(const std::string& what, const std::function<bool()>& holds) {
    eventually(what, [&] {
      pass(kGrain);
      return holds();
    });
  }
  void wait_until_live() {
    wait_until("the subscription", [this] { return live(); });
  }
  void wait_until_lost() {
    wait_until("the loss", [this] { return !live(); });
  }
  void serve(std::vector<Address> servers) {
    run([&] { servers_ = std::move(servers); });
  }
  // What was heard and what was said of the subscription, in order.
  std::vector<std::string> said() {
    std::vector<std::string> said;
    run([&] { said = std::exchange(said_, {}); });
    return said;
  }
  std::vector<std::string> wait_for(std::size_t count) {
    wait_until("a message", [&] {
      std::size_t size = 0;
      run([&] { size = said_.size(); });
      return size >= count;
    });
    return said();
  }

  Counters counters;

 private:
  std::vector<Address> servers_;
  NodeSettings settings_;
  ManualClock clock_;
  std::vector<std::string> said_;
  io::EventLoop loop_;
  Subscriber subscriber_{loop_, settings_, "weir:room",
                         Subscriber::Owner{.servers = [this] { return servers_; },
                                           .message = [this](auto text) { said_.emplace_back(text); },
                                           .changed = [this](bool live) { said_.emplace_back(live ? "+" : "-"); }},
                         counters};
  std::thread thread_;
};

using Said = std::vector<std::string>;

TEST(SubscriberTest, HearsWhatIsPublishedToItsChannelAndNothingElse) {
  RedisServer server;
  Listener listener({at(server)});
  listener.wait_until_live();
  EXPECT_EQ(server.command({"PUBLISH", "other:room", "x"}), "0");
  EXPECT_EQ(server.command({"PUBLISH", "weir:room", "weir:{a}"}), "1");
  EXPECT_EQ(server.command({"PUBLISH", "weir:room", "weir:{b}"}), "1");
  EXPECT_EQ(listener.wait_for(3), (Said{"+", "weir:{a}", "weir:{b}"}));
  EXPECT_EQ(listener.counters.messages.value(), 2);
}

TEST(SubscriberTest, IsLostWithItsServerAndComesBackWithIt) {
  RedisServer server;
  Listener listener({at(server)});
  listener.wait_until_live();
  server.kill();
  listener.wait_until_lost();
  EXPECT_EQ(listener.counters.subscriptions.value(), 1);
  EXPECT_EQ(listener.counters.live_subscriptions.value(), 0);
  server.restart();
  listener.wait_until_live();
  EXPECT_EQ(server.command({"PUBLISH", "weir:room", "x"}), "1");
  EXPECT_EQ(listener.wait_for(4), (Said{"+", "-", "+", "x"}));
}

// Twice as long each time: some 50 attempts in a minute, not thousands.
TEST(SubscriberTest, KnocksAtAServerThatIsAwayLessAndLessOften) {
  RedisServer server;
  server.kill();
  Listener listener({at(server)});
  for (int i = 0; i < 6000; ++i) listener.pass(kGrain);
  EXPECT_GE(listener.counters.connects.value(), 30);
  EXPECT_LE(listener.counters.connects.value(), 80);
}

TEST(SubscriberTest, AQuietServerThatAnswersIsKept) {
  RedisServer server;
  Listener listener({at(server)});
  listener.wait_until_live();
  // Slower than its answers come; ten seconds in all.
  for (int i = 0; i < 1000; ++i) {
    listener.pass(kGrain);
    server.command({"PING"});
  }
  EXPECT_EQ(listener.said(), Said{"+"});
}

TEST(SubscriberTest, ASilentServerIsLeftForAnother) {
  RedisServer one;
  RedisServer two;
  Listener listener({at(one), at(two)});
  listener.wait_until_live();
  RedisServer& first = one.command({"PUBSUB", "NUMSUB", "weir:room"}) == "weir:room\n1" ? one : two;
  RedisServer& second = &first == &one ? two : one;
  first.stop();
  listener.wait_until_lost();
  listener.wait_until_live();
  EXPECT_EQ(second.command({"PUBLISH", "weir:room", "x"}), "1");
  EXPECT_EQ(listener.wait_for(4), (Said{"+", "-", "+", "x"}));
  first.cont();
}

TEST(SubscriberTest, SaysWhoItIs) {
  RedisServer server(
      {.extra = {"--user", "weir", "on", ">secret", "resetchannels", "&weir:room", "+subscribe", "+ping"},
       .unix_only = true});
  Listener listener({{.host = {}, .port = 0, .unix_path = server.unix_path()}},
                    {.user = "weir", .password = "secret"});
  listener.wait_until_live();
  EXPECT_EQ(server.command({"PUBLISH", "weir:room", "x"}), "1");
  EXPECT_EQ(listener.wait_for(2), (Said{"+", "x"}));
}

TEST(SubscriberTest, IsNeverLiveWhereTheServerDoesNotAllowIt) {
  RedisServer server({.extra = {"--user", "weir", "on", ">secret", "resetchannels", "+@all"}});
  Listener listener({at(server)}, {.user = "weir", .password = "secret"});
  listener.wait_until("three attempts", [&] { return listener.counters.connects.value() >= 3; });
  EXPECT_EQ(listener.said(), Said{});
}

TEST(SubscriberTest, HearsOfAClusterWhateverNodeItIsPublishedAt) {
  RedisCluster cluster(3);
  std::vector<Address> servers;
  for (const RedisServer& node : cluster.nodes()) servers.push_back(at(node));
  Listener listener(servers);
  listener.wait_until_live();
  Said published{"+"};
  for (RedisServer& node : cluster.nodes()) {
    published.push_back("by " + std::to_string(node.port()));
    node.command({"PUBLISH", "weir:room", published.back()});
    EXPECT_EQ(listener.wait_for(published.size()), published);
    published.clear();
  }
}

TEST(SubscriberTest, AServerThatDoesNotBelongToTheOthersAnyMoreIsLeft) {
  RedisServer one;
  RedisServer two;
  Listener listener({at(one)});
  listener.wait_until_live();
  listener.serve({at(two)});
  listener.wait_until("the other's subscription",
                      [&] { return two.command({"PUBSUB", "NUMSUB", "weir:room"}) == "weir:room\n1"; });
  listener.wait_until_live();
  EXPECT_EQ(listener.said(), (Said{"+", "-", "+"}));
}

}  // namespace
}  // namespace weir::redis
