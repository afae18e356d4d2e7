// SPDX-License-Identifier: Apache-2.0
//
// One turn of an epoll loop that never waits: what has arrived on all connections is received in one system call, and
// everything that is to be sent leaves in another (io_uring; one call each where the kernel has none). Still one
// receive and one send per message, but cheap enough that the generator is not what limits the proxy.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "weir/io/transfer_batch.h"

namespace weir::bench {

class Turn {
 public:
  struct Arrival {
    epoll_data_t who;
    std::int64_t result;  // of the receive: bytes, 0 at the end, or a negative errno
    std::string_view bytes;
  };
  struct Departure {
    epoll_data_t who;
    int fd;
    std::string_view bytes;  // stay in place until flush()
    std::int64_t result = 0;
  };

  Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn();

  int descriptor() const { return epoll_; }
  bool watch(int fd, epoll_data_t who, std::uint32_t events);

  // What is ready now, without waiting.
  std::vector<epoll_event>& ready();
  // Receives from the descriptor at the next receive_all().
  void receive(int fd, epoll_data_t who);
  const std::vector<Arrival>& receive_all();

  void send(int fd, epoll_data_t who, std::string_view bytes) { departures_.push_back({who, fd, bytes}); }
  const std::vector<Departure>& flush();

 private:
  static constexpr std::size_t kMost = 256;    // events of a turn
  static constexpr std::size_t kRoom = 16448;  // one message fits, so a short read has emptied the socket

  int epoll_;
  io::TransferBatch batch_{io::SocketCalls::kAuto};
  std::vector<epoll_event> events_;
  std::vector<char> memory_;
  std::vector<Arrival> arrivals_;
  std::vector<Arrival> arrived_;
  std::vector<Departure> departures_;
  std::vector<Departure> departed_;
  std::vector<io::SocketTransfer> transfers_;
};

}  // namespace weir::bench
