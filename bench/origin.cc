// SPDX-License-Identifier: Apache-2.0
#include "origin.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "tcp.h"

namespace weir::bench {
namespace {

constexpr std::size_t kMostAtOnce = 64;

// kMostAtOnce answers.
std::string response_bytes() {
  std::string body = R"({"id":42,"name":"weir","kind":"item","tags":["river","dam","rate"],"note":")";
  constexpr std::string_view kEnd = "\"}";
  body.append(kOriginBody - body.size() - kEnd.size(), 'x');
  body += kEnd;
  const std::string response = fmt::format(
      "HTTP/1.1 200 OK\r\nServer: origin\r\nContent-Type: application/json\r\nCache-Control: no-store\r\n"
      "Content-Length: {}\r\n\r\n{}",
      body.size(), body);
  std::string responses;
  for (std::size_t i = 0; i < kMostAtOnce; ++i) responses += response;
  return responses;
}

// Requests without a body, so each ends with an empty line.
std::size_t requests_in(std::string_view received) {
  constexpr std::string_view kEnd = "\r\n\r\n";
  std::size_t count = 0;
  for (std::size_t at = received.find(kEnd); at != std::string_view::npos; at = received.find(kEnd, at + 4)) ++count;
  return count;
}

}  // namespace

Origin::Origin() : responses_(response_bytes()) {}

// Accepted connections end with the process.
Origin::~Origin() {
  if (listener_ >= 0) close(listener_);
}

bool Origin::listen(std::uint16_t port) {
  listener_ = listen_at(loopback(port));
  return listener_ >= 0 && watch(listener_, EPOLLIN);
}

std::size_t Origin::turn() {
  const auto& events = turn_.ready();
  for (const epoll_event& event : events) {
    event.data.fd == listener_ ? accept_all() : turn_.receive(event.data.fd, event.data);
  }
  for (const Turn::Arrival& arrival : turn_.receive_all()) serve(arrival.who.fd, arrival);
  for (const Turn::Departure& sent : turn_.flush()) {
    // The proxy sees a failure, and the event that follows closes the descriptor.
    if (sent.result != static_cast<std::int64_t>(sent.bytes.size())) shutdown(sent.fd, SHUT_RDWR);
  }
  return events.size();
}

bool Origin::watch(int fd, std::uint32_t events) { return turn_.watch(fd, {.fd = fd}, events); }

void Origin::accept_all() {
  for (int fd = 0; (fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
    const auto index = static_cast<std::size_t>(fd);
    if (partial_.size() <= index) partial_.resize(index + 1);
    partial_[index].clear();
    if (!watch(fd, EPOLLIN | EPOLLRDHUP | EPOLLET)) close(fd);
  }
}

void Origin::serve(int fd, const Turn::Arrival& arrival) {
  if (arrival.result == -EAGAIN) return;
  if (arrival.result <= 0) {
    close(fd);
    return;
  }
  std::string_view requests = arrival.bytes;
  std::string& partial = partial_[static_cast<std::size_t>(fd)];
  if (!partial.empty()) requests = partial.append(requests);
  if (!requests.ends_with("\r\n\r\n")) {
    if (partial.empty()) partial = requests;
    return;
  }
  answer(fd, requests_in(requests));
  partial.clear();
}

// Several at once only where a proxy pipelines.
void Origin::answer(int fd, std::size_t count) {
  for (std::size_t most = 0; count > 0; count -= most) {
    most = std::min(count, kMostAtOnce);
    turn_.send(fd, {.fd = fd}, std::string_view(responses_).substr(0, most * responses_.size() / kMostAtOnce));
  }
}

}  // namespace weir::bench
