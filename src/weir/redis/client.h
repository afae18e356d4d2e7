// SPDX-License-Identifier: Apache-2.0
//
// Redis, or a Redis Cluster, as one event loop talks to it: a connection per node, commands sent to whoever serves
// their key. Of a cluster the topology is learnt from the seeds and whenever somebody says that it has changed;
// redirections (MOVED, ASK, TRYAGAIN) are followed within the command's time.
// (redis.io/docs/reference/cluster-spec)
// Thread safety: the loop's thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weir/base/clock.h"
#include "weir/io/event_loop.h"
#include "weir/io/task.h"
#include "weir/redis/node.h"

namespace weir::redis {

// Of the cluster's slots, the one of this key (CRC-16/XMODEM of its hash tag).
std::uint16_t slot_of(std::string_view key);

struct ClientSettings {
  enum class Cluster : std::uint8_t { kAuto, kOn, kOff };

  std::vector<Address> seeds;  // at least one
  NodeSettings node;
  Cluster cluster = Cluster::kAuto;
};

struct Answer {
  Call::End end = Call::End::kUnavailable;
  Reply reply;  // of kAnswered

  bool answered() const { return end == Call::End::kAnswered; }
};

class Client {
 public:
  // `settings` and `counters` outlive the client.
  Client(io::EventLoop& loop, const ClientSettings& settings, Counters& counters);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Connects to the first seed and looks at the topology, without waiting for it.
  void start();
  // What the server of the key answers; errors are answers, too. `command` lives as long as the task.
  io::Task<Answer> ask(std::string_view key, const Command& command, Instant deadline);

  // While one exists, commands are gathered; then they leave, one write per node.
  class OneWrite {
   public:
    explicit OneWrite(Client& client) : client_(client) { client_.gathering_ = true; }
    ~OneWrite();
    OneWrite(const OneWrite&) = delete;
    OneWrite& operator=(const OneWrite&) = delete;

   private:
    Client& client_;
  };

  // Everybody who waits fails, and everybody who comes.
  void shut();

  // Whom to ask for what any server knows: of a cluster the masters, else the seeds.
  std::vector<Address> servers() const;

  // An answer that its asker could not use.
  void complain(const ReplyView& answer);

  Counters& counters() { return counters_; }
  io::EventLoop& loop() { return loop_; }

 private:
  static constexpr std::uint16_t kSlots = 16'384;

  enum class Next : std::uint8_t { kDone, kRedirected, kLater };
  struct Target {
    Node* node = nullptr;
    Call::Kind kind = Call::Kind::kCommand;
  };

  Node& node_at(const Address& address);
  Node& node_for(std::uint16_t slot);
  Next follow(const ReplyView& error, std::uint16_t slot, Target& target);
  void look_around();
  io::Detached learn();
  bool adopt(const ReplyView& slots, const Node& from);

  io::EventLoop& loop_;
  const ClientSettings& settings_;
  Counters& counters_;
  std::map<std::string, std::unique_ptr<Node>> nodes_;
  std::vector<Node*> by_slot_;  // null: unknown; empty: no cluster, as far as is known
  std::size_t next_seed_ = 0;
  std::size_t next_witness_ = 0;  // who is asked first for the topology
  bool is_cluster_ = false;
  bool is_single_ = false;  // the server has said so
  bool learning_ = false;
  bool shut_ = false;
  bool gathering_ = false;               // nodes leave it to OneWrite to send
  Instant learnt_ = Instant::min();      // when it last looked
  Instant complained_ = Instant::min();  // when it last did
};

}  // namespace weir::redis
