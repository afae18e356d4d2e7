// SPDX-License-Identifier: Apache-2.0
//
// For tests: a real redis-server on a free port of the loopback, in a folder of its own, that ends with its object
// (and with the thread that started it). It keeps nothing on disk. What goes wrong here is thrown, so that the test
// fails. Thread safety: none.
#pragma once

#include <hiredis/hiredis.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "weir/base/testing/process.h"

namespace weir::redis::testing {

using weir::testing::eventually;
using weir::testing::FreePort;
using weir::testing::Process;

class RedisServer {
 public:
  struct Options {
    bool cluster = false;
    std::vector<std::string> extra{};  // further arguments, such as "--maxmemory", "1mb"
    bool unix_only = false;            // no TCP: port() is 0
  };

  // Is there a redis-server in the PATH?
  static bool available() {
    const char* path = std::getenv("PATH");
    std::istringstream folders(path != nullptr ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');) {
      if (::access((folder + "/redis-server").c_str(), X_OK) == 0) return true;
    }
    return false;
  }

  // Returns once the server answers.
  explicit RedisServer(Options options) : options_(std::move(options)) {
    std::string folder = std::filesystem::temp_directory_path() / "weir-redis-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("cannot create " + folder);
    folder_ = folder;
    unix_path_ = folder_ / "socket";
    try {
      start();
    } catch (...) {
      remove();
      throw;
    }
  }
  RedisServer() : RedisServer(Options{}) {}
  ~RedisServer() { remove(); }
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  std::uint16_t port() const { return port_; }
  std::uint16_t bus_port() const { return bus_port_; }  // where nodes of a cluster talk to each other
  const std::string& unix_path() const { return unix_path_; }
  pid_t pid() const { return process_.pid(); }  // 0 while killed

  // Ends the process at once. Its ports stay known for restart().
  void kill() {
    connection_.reset();
    process_.kill();
  }

  // A new process with the same ports and no data. A node of a cluster remembers the cluster.
  void restart() {
    kill();
    eventually("the restart", [&] { return came_up(); });
  }

  // The process stands still: connections are accepted by the kernel, and nothing answers.
  void stop() { process_.stop(); }
  void cont() { process_.cont(); }

  // The reply as text: an error's message is its text, nil is "(nil)", an array has one line per element. All
  // commands go over one connection, so that AUTH lasts until the server was killed. Throws when no reply comes
  // within 5 seconds.
  std::string command(const std::vector<std::string>& args) {
    const Reply reply = ask(args);
    if (!reply) throw std::runtime_error("redis-server does not answer " + args.at(0));
    return text_of(*reply);
  }

 private:
  template <auto Function>
  struct Free {
    void operator()(auto* what) const { Function(what); }
  };
  using Reply = std::unique_ptr<redisReply, Free<freeReplyObject>>;

  void start() {
    for (int tries = 0; tries < 8; ++tries) {
      choose_ports();
      if (came_up()) return;  // or somebody else took a port meanwhile
    }
    std::ifstream log(folder_ / "log");
    throw std::runtime_error("redis-server does not start:\n" + std::string(std::istreambuf_iterator(log), {}));
  }

  // The bus has a port of its own: the usual one, 10000 above, need not exist.
  void choose_ports() {
    const FreePort port, bus_port;
    port_ = options_.unix_only ? 0 : port.number();
    bus_port_ = options_.cluster ? bus_port.number() : 0;
  }

  // False when the process ended at once. It answers only after it has got all its ports.
  bool came_up() {
    process_.start(arguments(), folder_ / "log");
    bool up = false;
    eventually("an answer of redis-server", [&] {
      up = ask({"PING"}) != nullptr;
      return up || process_.ended();
    });
    return up;
  }

  std::vector<std::string> arguments() const {
    std::vector<std::string> all = {"redis-server",
                                    "--port",
                                    std::to_string(port_),
                                    "--bind",
                                    "127.0.0.1",
                                    "--unixsocket",
                                    unix_path_,
                                    "--save",
                                    "",
                                    "--appendonly",
                                    "no",
                                    "--dir",
                                    folder_,
                                    "--daemonize",
                                    "no",
                                    "--loglevel",
                                    "warning",
                                    "--repl-diskless-sync-delay",
                                    "0"};
    if (options_.cluster) {
      all.insert(all.end(), {"--cluster-enabled", "yes", "--cluster-port", std::to_string(bus_port_),
                             "--cluster-node-timeout", "1000"});
    }
    all.insert(all.end(), options_.extra.begin(), options_.extra.end());
    return all;
  }

  Reply ask(const std::vector<std::string>& args) {
    const timeval limit{.tv_sec = 5, .tv_usec = 0};
    if (!connection_) {
      connection_.reset(redisConnectUnixWithTimeout(unix_path_.c_str(), limit));
      if (connection_) redisSetTimeout(connection_.get(), limit);
    }
    std::vector<const char*> words;
    std::vector<std::size_t> sizes;
    for (const std::string& arg : args) {
      words.push_back(arg.data());
      sizes.push_back(arg.size());
    }
    void* reply = nullptr;
    if (connection_ && connection_->err == 0) {
      reply = redisCommandArgv(connection_.get(), static_cast<int>(args.size()), words.data(), sizes.data());
    }
    if (reply == nullptr) connection_.reset();  // the next command connects again
    return Reply(static_cast<redisReply*>(reply));
  }

  static std::string text_of(const redisReply& reply) {
    if (reply.type == REDIS_REPLY_INTEGER) return std::to_string(reply.integer);
    if (reply.type == REDIS_REPLY_NIL) return "(nil)";
    if (reply.type != REDIS_REPLY_ARRAY) return {reply.str, reply.len};
    std::string lines;
    for (std::size_t i = 0; i < reply.elements; ++i) lines += (i > 0 ? "\n" : "") + text_of(*reply.element[i]);
    return lines;
  }

  void remove() {
    kill();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  Options options_;
  std::filesystem::path folder_;
  std::string unix_path_;
  std::uint16_t port_ = 0;
  std::uint16_t bus_port_ = 0;
  Process process_;
  std::unique_ptr<redisContext, Free<redisFree>> connection_;
};

}  // namespace weir::redis::testing
