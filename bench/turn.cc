// SPDX-License-Identifier: Apache-2.0
#include "turn.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace weir::bench {

Turn::Turn() : epoll_(epoll_create1(EPOLL_CLOEXEC)), memory_(kMost * kRoom) {}

Turn::~Turn() {
  if (epoll_ >= 0) close(epoll_);
}

bool Turn::watch(int fd, epoll_data_t who, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data = who;
  return epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0;
}

std::vector<epoll_event>& Turn::ready() {
  events_.resize(kMost);
  events_.resize(static_cast<std::size_t>(std::max(0, epoll_wait(epoll_, events_.data(), kMost, 0))));
  return events_;
}

void Turn::receive(int fd, epoll_data_t who) {
  arrivals_.push_back({who, 0, {}});
  transfers_.push_back({.socket = fd,
                        .direction = io::SocketTransfer::Direction::kReceive,
                        .bytes = memory_.data() + (transfers_.size() * kRoom),
                        .size = kRoom});
}

const std::vector<Turn::Arrival>& Turn::receive_all() {
  batch_.run(transfers_);
  for (std::size_t i = 0; i < transfers_.size(); ++i) {
    const io::SocketTransfer& done = transfers_[i];
    arrivals_[i].result = done.result;
    arrivals_[i].bytes = {done.bytes, static_cast<std::size_t>(std::max<std::int64_t>(done.result, 0))};
  }
  transfers_.clear();
  std::swap(arrivals_, arrived_);
  arrivals_.clear();
  return arrived_;
}

const std::vector<Turn::Departure>& Turn::flush() {
  transfers_.clear();
  for (const Departure& one : departures_) {
    transfers_.push_back({.socket = one.fd,
                          .direction = io::SocketTransfer::Direction::kSend,
                          .bytes = const_cast<char*>(one.bytes.data()),
                          .size = one.bytes.size()});
  }
  batch_.run(transfers_);
  for (std::size_t i = 0; i < transfers_.size(); ++i) departures_[i].result = transfers_[i].result;
  transfers_.clear();
  std::swap(departures_, departed_);
  departures_.clear();
  return departed_;
}

}  // namespace weir::bench
