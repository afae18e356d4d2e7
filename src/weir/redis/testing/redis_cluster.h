// SPDX-License-Identifier: Apache-2.0
//
// For tests: a Redis Cluster of real servers, as redis_server.h starts them. A master that is gone is replaced by its
// replica after about two seconds.
// Thread safety: none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "weir/redis/testing/redis_server.h"

namespace weir::redis::testing {

class RedisCluster {
 public:
  // The masters share the slots evenly, in their order; each has so many replicas. Returns once every node says that
  // the cluster works and every replica follows its master.
  explicit RedisCluster(int masters = 3, int replicas = 0) : masters_(masters), replicas_(replicas) {
    for (int i = 0; i < masters + masters * replicas; ++i) nodes_.emplace_back(RedisServer::Options{.cluster = true});
    for (int i = 0; i < masters; ++i) give_slots(i);
    for (std::size_t i = 1; i < nodes_.size(); ++i) meet(nodes_[i]);
    eventually("the meeting of all nodes",
               [&] { return all([&](RedisServer& node) { return knows_all(node, 0); }); });
    for (int i = masters; i < static_cast<int>(nodes_.size()); ++i) replicate(i);
    wait_until_ok();
  }

  // The masters, then the replicas of the first master, of the second and so on: the roles at the start.
  std::deque<RedisServer>& nodes() { return nodes_; }
  RedisServer& replica_of(int master, int which = 0) { return nodes_[masters_ + master * replicas_ + which]; }
  RedisServer& at_port(std::uint16_t port) {
    for (RedisServer& node : nodes_) {
      if (node.port() == port) return node;
    }
    throw std::runtime_error("no node has the port " + std::to_string(port));
  }

  // Asks the first node, and then the one that it names when the key is elsewhere.
  std::string command(const std::vector<std::string>& args) {
    std::string reply = nodes_.front().command(args);
    if (!reply.starts_with("MOVED ")) return reply;
    return at_port(static_cast<std::uint16_t>(std::stoi(reply.substr(reply.rfind(':') + 1)))).command(args);
  }

  // Returns once every node is back in a cluster that works.
  void wait_until_ok() {
    eventually("the state of all nodes", [&] {
      return all([&](RedisServer& node) {
        return knows_all(node, masters_ * replicas_) && has(node.command({"CLUSTER", "INFO"}), "cluster_state:ok") &&
               !has(node.command({"INFO", "replication"}), "master_link_status:down");
      });
    });
  }

 private:
  static constexpr int kSlots = 16384;

  static bool has(const std::string& text, std::string_view word) { return text.find(word) != std::string::npos; }

  static void must(RedisServer& node, const std::vector<std::string>& args) {
    if (const std::string reply = node.command(args); reply != "OK")
      throw std::runtime_error(args.at(1) + ": " + reply);
  }

  void give_slots(int master) {
    const int first = master * kSlots / masters_, last = (master + 1) * kSlots / masters_ - 1;
    must(nodes_[master], {"CLUSTER", "ADDSLOTSRANGE", std::to_string(first), std::to_string(last)});
    // Different epochs from the start spare the masters to settle them.
    must(nodes_[master], {"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(master + 1)});
  }

  void meet(RedisServer& node) {
    must(nodes_.front(),
         {"CLUSTER", "MEET", "127.0.0.1", std::to_string(node.port()), std::to_string(node.bus_port())});
  }

  void replicate(int replica) {
    const std::string master = nodes_[(replica - masters_) / replicas_].command({"CLUSTER", "MYID"});
    must(nodes_[replica], {"CLUSTER", "REPLICATE", master});
  }

  // Every node, every replica as such, every slot, and no node that has failed or is still being met.
  bool knows_all(RedisServer& node, int replicas) const {
    std::istringstream lines(node.command({"CLUSTER", "NODES"}));
    int known = 0;
    for (std::string line; std::getline(lines, line);) {
      known += has(line, "handshake") || has(line, "fail") ? 0 : 1;
      replicas -= has(line, "slave") ? 1 : 0;
    }
    return known == std::ssize(nodes_) && replicas == 0 &&
           has(node.command({"CLUSTER", "INFO"}), "cluster_slots_ok:16384");
  }

  bool all(auto holds) { return std::ranges::all_of(nodes_, holds); }

  int masters_;
  int replicas_;
  std::deque<RedisServer> nodes_;
};

}  // namespace weir::redis::testing
