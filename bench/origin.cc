// SPDX-License-Identifier: Apache-2.0
#include "origin.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "tcp.h"

namespace weir::bench {
namespace {

std::string response_bytes() {
  std::string body = R"({"id":42,"name":"weir","kind":"item","tags":["river","dam","rate"],"note":")";
  constexpr std::string_view kEnd = "\"}";
  body.append(kOriginBody - body.size() - kEnd.size(), 'x');
  body += kEnd;
  return fmt::format(
      "HTTP/1.1 200 OK\r\nServer: origin\r\nContent-Type: application/json\r\nCache-Control: no-store\r\n"
      "Content-Length: {}\r\n\r\n{}",
      body.size(), body);
}

// Requests without a body, so each ends with an empty line.
std::size_t requests_in(std::string_view received) {
  constexpr std::string_view kEnd = "\r\n\r\n";
  std::size_t count = 0;
  for (std::size_t at = received.find(kEnd); at != std::string_view::npos; at = received.find(kEnd, at + 4)) ++count;
  return count;
}

}  // namespace

Origin::Origin() : epoll_(epoll_create1(EPOLL_CLOEXEC)), response_(response_bytes()) {}

// Accepted connections end with the process.
Origin::~Origin() {
  if (listener_ >= 0) close(listener_);
  if (epoll_ >= 0) close(epoll_);
}

bool Origin::listen(std::uint16_t port) {
  listener_ = listen_at(loopback(port));
  return listener_ >= 0 && watch(listener_, EPOLLIN);
}

std::size_t Origin::turn() {
  std::array<epoll_event, 256> events;
  const int found = epoll_wait(epoll_, events.data(), events.size(), 0);
  const std::size_t count = found < 0 ? 0 : static_cast<std::size_t>(found);
  for (std::size_t i = 0; i < count; ++i) {
    const int fd = events[i].data.fd;
    fd == listener_ ? accept_all() : serve(fd);
  }
  return count;
}

bool Origin::watch(int fd, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  return epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0;
}

void Origin::accept_all() {
  for (int fd = 0; (fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
    const auto index = static_cast<std::size_t>(fd);
    if (partial_.size() <= index) partial_.resize(index + 1);
    partial_[index].clear();
    if (!watch(fd, EPOLLIN | EPOLLRDHUP | EPOLLET)) close(fd);
  }
}

void Origin::serve(int fd) {
  const ssize_t received = recv(fd, buffer_.data(), buffer_.size(), 0);
  if (received < 0 && errno == EAGAIN) return;
  if (received <= 0) {
    close(fd);
    return;
  }
  std::string_view requests(buffer_.data(), static_cast<std::size_t>(received));
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
  std::string several;
  std::string_view bytes = response_;
  if (count > 1) {
    for (std::size_t i = 0; i < count; ++i) several += response_;
    bytes = several;
  }
  if (send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size())) {
    shutdown(fd, SHUT_RDWR);  // the proxy sees a failure, and the event that follows closes the descriptor
  }
}

}  // namespace weir::bench
