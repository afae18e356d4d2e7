// SPDX-License-Identifier: Apache-2.0
//
// The upstream behind every proxy that is measured: the same JSON to every request, connections kept alive, one
// receive and one send per request. Part of the load generator's loop, so that one thread is both ends of the proxy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "turn.h"

namespace weir::bench {

inline constexpr std::size_t kOriginBody = 210;  // bytes

class Origin {
 public:
  Origin();
  Origin(const Origin&) = delete;
  Origin& operator=(const Origin&) = delete;
  ~Origin();

  // Waits on 127.0.0.1. False with errno set when that is not possible.
  bool listen(std::uint16_t port);

  // Serves what has arrived, without waiting. Returns how many events there were.
  std::size_t turn();

  // Readable when turn() would find something.
  int descriptor() const { return turn_.descriptor(); }

 private:
  bool watch(int fd, std::uint32_t events);
  void accept_all();
  void serve(int fd, const Turn::Arrival& arrival);
  void answer(int fd, std::size_t count);

  Turn turn_;
  int listener_ = -1;
  std::string responses_;
  std::vector<std::string> partial_;  // by descriptor: the start of a request
};

}  // namespace weir::bench
