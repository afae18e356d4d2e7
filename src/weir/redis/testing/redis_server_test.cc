// SPDX-License-Identifier: Apache-2.0
#include "weir/redis/testing/redis_server.h"

#include <gtest/gtest.h>

#include "weir/redis/testing/redis_cluster.h"

namespace weir::redis::testing {
namespace {

class RealRedis : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RedisServer::available()) GTEST_SKIP() << "there is no redis-server in the PATH";
  }
};

TEST_F(RealRedis, AnswersOfEveryKindBecomeText) {
  RedisServer server;
  EXPECT_EQ(server.command({"SET", "key", "1"}), "OK");
  EXPECT_EQ(server.command({"INCR", "key"}), "2");
  EXPECT_EQ(server.command({"MGET", "key", "none"}), "2\n(nil)");
  EXPECT_TRUE(server.command({"NONE"}).starts_with("ERR unknown command"));
  EXPECT_EQ(server.command({"SET", std::string("a\0b", 3), "x"}), "OK");
  EXPECT_EQ(server.command({"STRLEN", "key"}), "1");
}

TEST_F(RealRedis, ARestartedServerIsEmptyAndHasItsOldPort) {
  RedisServer server;
  const auto port = server.port();
  const auto pid = server.pid();
  server.command({"SET", "key", "1"});
  server.restart();
  EXPECT_EQ(server.port(), port);
  EXPECT_NE(server.pid(), pid);
  EXPECT_EQ(server.command({"DBSIZE"}), "0");
}

TEST_F(RealRedis, AKilledServerDoesNotAnswer) {
  RedisServer server;
  server.kill();
  EXPECT_THROW(server.command({"PING"}), std::runtime_error);
}

TEST_F(RealRedis, AStoppedServerGoesOnWhereItWas) {
  RedisServer server;
  server.command({"SET", "key", "1"});
  server.stop();
  server.cont();
  EXPECT_EQ(server.command({"GET", "key"}), "1");
  server.stop();  // and can end meanwhile
}

TEST_F(RealRedis, FurtherArgumentsReachTheServer) {
  RedisServer server({.extra = {"--maxmemory", "1mb"}, .unix_only = true});
  EXPECT_EQ(server.port(), 0);
  EXPECT_EQ(server.command({"CONFIG", "GET", "maxmemory"}), "maxmemory\n1048576");
}

TEST_F(RealRedis, AServerThatCannotStartSaysWhy) {
  try {
    RedisServer server({.extra = {"--no-such-setting", "1"}});
    ADD_FAILURE() << "it started";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("no-such-setting"), std::string::npos) << error.what();
  }
}

TEST_F(RealRedis, AClusterTakesKeysOfEveryMaster) {
  RedisCluster cluster;
  for (const char* key : {"a", "b", "c", "d", "e", "f"}) EXPECT_EQ(cluster.command({"SET", key, "1"}), "OK");
  for (RedisServer& node : cluster.nodes()) EXPECT_NE(node.command({"DBSIZE"}), "0");
}

TEST_F(RealRedis, AReplicaTakesOverFromAMasterThatWasKilled) {
  RedisCluster cluster(3, 1);
  cluster.nodes()[0].kill();
  eventually("the takeover", [&] { return cluster.replica_of(0).command({"ROLE"}).starts_with("master"); });
  cluster.nodes()[0].restart();
  cluster.wait_until_ok();
  EXPECT_TRUE(cluster.nodes()[0].command({"ROLE"}).starts_with("slave"));
}

}  // namespace
}  // namespace weir::redis::testing
