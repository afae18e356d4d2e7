// SPDX-License-Identifier: Apache-2.0
//
// A load generator that costs one receive and one send per request, batched (turn.h), so that it is not what limits
// the proxy that it measures. Closed loop: each connection sends its next request when the answer to the last is
// complete. One thread, which is the origin as well and never sleeps: were it to sleep, the proxy's sends would have
// to wake it on another CPU, which costs a multiple of the send on some machines and would be counted as the proxy's.
// Reads the CPU time of the watched processes itself, at the first and the last instant of the measured interval.
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answer.h"
#include "cpu_time.h"
#include "histogram.h"
#include "load_options.h"
#include "origin.h"
#include "tcp.h"
#include "turn.h"

namespace weir::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Errors {
  std::uint64_t connect = 0;
  std::uint64_t send = 0;
  std::uint64_t closed = 0;     // by the peer, or reset
  std::uint64_t malformed = 0;  // no end, or not at the end, of what came
  std::uint64_t status = 0;     // complete, but not the expected one
  std::uint64_t length = 0;     // complete, but not the expected number of bytes
  std::uint64_t stalled = 0;    // no answer within the patience, at the end

  std::uint64_t sum() const { return connect + send + closed + malformed + status + length + stalled; }
};

// Time of turns that found something to do. The rest was spinning.
struct Busy {
  std::chrono::nanoseconds load{};
  std::chrono::nanoseconds origin{};
};

struct Connection {
  int fd = -1;
  Clock::time_point sent;
  std::string partial;  // the start of an answer, where it did not come in one piece
};

class Load {
 public:
  Load(const LoadOptions& options, Origin& origin)
      : options_(options), origin_(origin), connections_(static_cast<std::size_t>(options.connections)) {}
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;
  ~Load() {
    for (const Connection& connection : connections_) {
      if (connection.fd >= 0) close(connection.fd);
    }
  }

  // Warms up, then measures. Returns false when nothing could be measured.
  bool run() {
    for (Connection& connection : connections_) {
      if (!connect_one(connection)) return false;
    }
    for (Connection& connection : connections_) send_request(connection, Clock::now());
    flush();
    turn_until(Clock::now() + options_.warmup);
    warmup_answers_ = std::exchange(histogram_, {}).count();
    statuses_ = {};
    busy_ = {};
    const CpuTimes before = cpu_times_of(options_.watched);
    const auto start = Clock::now();
    turn_until(start + options_.duration);
    elapsed_ = Clock::now() - start;
    cpu_ = difference(cpu_times_of(options_.watched), before);
    count_stalled();
    return true;
  }

  // Opens the connections one after the other, with one request on each. Sleeps between, since nothing is timed.
  bool run_and_hold() {
    for (Connection& connection : connections_) {
      if (!connect_one(connection)) return false;
      send_request(connection, Clock::now());
      flush();
      const std::uint64_t wanted = histogram_.count() + 1;
      const auto end = Clock::now() + options_.patience;
      while (histogram_.count() < wanted && errors_.sum() == 0 && Clock::now() < end) wait_and_turn();
      if (histogram_.count() < wanted) ++errors_.stalled;
      if (errors_.sum() > 0) return false;
    }
    return true;
  }

  bool valid() const { return errors_.sum() == 0 && histogram_.count() > 0; }

  std::string to_json() const {
    std::string statuses;
    std::string classes;
    std::map<int, std::uint64_t> by_class;
    for (const auto& [status, count] : statuses_) {
      statuses += fmt::format("{}\"{}\":{}", statuses.empty() ? "" : ",", status, count);
      by_class[status / 100] += count;
    }
    for (const auto& [hundreds, count] : by_class) {
      classes += fmt::format("{}\"{}xx\":{}", classes.empty() ? "" : ",", hundreds, count);
    }
    std::string cpu;
    for (const auto& [name, time] : cpu_) {
      cpu += fmt::format("{}\"{}\":{{\"running_ns\":{},\"waiting_ns\":{}}}", cpu.empty() ? "" : ",", name,
                         time.running, time.waiting);
    }
    return fmt::format(
        R"({{"connections":{},"seconds":{:.6f},"warmup_answers":{},"answers":{},"classes":{{{}}},"statuses":{{{}}},)"
        R"("latency_us":{},"busy_ns":{{"load":{},"origin":{}}},"cpu":{{{}}},"errors":{}}})",
        connections_.size(), std::chrono::duration<double>(elapsed_).count(), warmup_answers_, histogram_.count(),
        classes, statuses, latency_json(), busy_.load.count(), busy_.origin.count(), cpu, errors_json());
  }

 private:
  bool connect_one(Connection& connection) {
    connection.fd = connect_to(loopback(options_.port));
    if (connection.fd >= 0 && set_nonblocking(connection.fd) &&
        turn_.watch(connection.fd, {.ptr = &connection}, EPOLLIN | EPOLLRDHUP | EPOLLET)) {
      return true;
    }
    fmt::print(stderr, "bench_load: cannot connect to port {}: {}\n", options_.port, std::strerror(errno));
    ++errors_.connect;
    return false;
  }

  void turn_until(Clock::time_point end) {
    while (Clock::now() < end && errors_.sum() < connections_.size()) turn();
  }

  void turn() {
    const auto start = Clock::now();
    const bool loaded = load_turn() > 0;
    const auto middle = Clock::now();
    if (loaded) busy_.load += middle - start;
    const bool served = origin_.turn() > 0;
    if (served) busy_.origin += Clock::now() - middle;
    if (options_.yield && !loaded && !served) sched_yield();
  }

  void wait_and_turn() {
    std::array<pollfd, 2> waiting{{{turn_.descriptor(), POLLIN, 0}, {origin_.descriptor(), POLLIN, 0}}};
    poll(waiting.data(), waiting.size(), 100);
    turn();
  }

  std::size_t load_turn() {
    const auto& events = turn_.ready();
    for (const epoll_event& event : events) {
      if (const int fd = static_cast<Connection*>(event.data.ptr)->fd; fd >= 0) turn_.receive(fd, event.data);
    }
    for (const Turn::Arrival& arrival : turn_.receive_all()) {
      on_arrival(*static_cast<Connection*>(arrival.who.ptr), arrival);
    }
    flush();
    return events.size();
  }

  void on_arrival(Connection& connection, const Turn::Arrival& arrival) {
    if (arrival.result == -EAGAIN) return;
    if (arrival.result <= 0) return give_up(connection, errors_.closed);
    std::string_view answer = arrival.bytes;
    if (!connection.partial.empty()) answer = connection.partial.append(answer);
    switch (scanner_.scan(answer)) {
      case AnswerScanner::Verdict::kComplete:
        on_answer(connection);
        break;
      case AnswerScanner::Verdict::kIncomplete:
        if (connection.partial.empty()) connection.partial = answer;
        break;
      case AnswerScanner::Verdict::kMalformed:
        give_up(connection, errors_.malformed);
        break;
    }
  }

  void on_answer(Connection& connection) {
    const Answer& answer = scanner_.last();
    if (answer.status != options_.expected_status) ++errors_.status;
    if (answer.body != options_.expected_body.value_or(answer.body)) ++errors_.length;
    ++statuses_[answer.status];
    connection.partial.clear();
    const auto now = Clock::now();
    histogram_.record(static_cast<std::uint64_t>((now - connection.sent).count()));
    if (!options_.hold) send_request(connection, now);
  }

  void send_request(Connection& connection, Clock::time_point now) {
    connection.sent = now;
    turn_.send(connection.fd, {.ptr = &connection}, options_.requests[next_]);
    next_ = next_ + 1 == options_.requests.size() ? 0 : next_ + 1;
  }

  void flush() {
    for (const Turn::Departure& sent : turn_.flush()) {
      if (sent.result != static_cast<std::int64_t>(sent.bytes.size())) {
        give_up(*static_cast<Connection*>(sent.who.ptr), errors_.send);
      }
    }
  }

  void give_up(Connection& connection, std::uint64_t& counter) {
    ++counter;
    close(connection.fd);
    connection.fd = -1;
  }

  void count_stalled() {
    const auto now = Clock::now();
    for (const Connection& connection : connections_) {
      if (connection.fd >= 0 && now - connection.sent > options_.patience) ++errors_.stalled;
    }
  }

  std::string latency_json() const {
    const auto us = [](std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e3; };
    return fmt::format(R"({{"p50":{:.1f},"p90":{:.1f},"p99":{:.1f},"p999":{:.1f},"max":{:.1f}}})",
                       us(histogram_.percentile(0.5)), us(histogram_.percentile(0.9)),
                       us(histogram_.percentile(0.99)), us(histogram_.percentile(0.999)), us(histogram_.max()));
  }

  std::string errors_json() const {
    return fmt::format(
        R"({{"connect":{},"send":{},"closed":{},"malformed":{},"status":{},"length":{},"stalled":{}}})",
        errors_.connect, errors_.send, errors_.closed, errors_.malformed, errors_.status, errors_.length,
        errors_.stalled);
  }

  const LoadOptions& options_;
  Origin& origin_;
  std::vector<Connection> connections_;
  std::size_t next_ = 0;  // of the requests
  Turn turn_;
  AnswerScanner scanner_;
  Histogram histogram_;
  std::uint64_t warmup_answers_ = 0;
  std::map<int, std::uint64_t> statuses_;
  CpuTimes cpu_;
  Busy busy_;
  Errors errors_;
  Clock::duration elapsed_{};
};

// Is the origin until a line comes, so that the proxy can be started and tried meanwhile. Empty when input ends
// first.
std::string serve_until_line(Origin& origin) {
  std::string line;
  std::array<pollfd, 2> waiting{{{STDIN_FILENO, POLLIN, 0}, {origin.descriptor(), POLLIN, 0}}};
  while (!line.ends_with('\n')) {
    poll(waiting.data(), waiting.size(), -1);
    origin.turn();
    char byte = 0;
    if (waiting[0].revents != 0 && read(STDIN_FILENO, &byte, 1) <= 0) return line;
    if (waiting[0].revents != 0) line.push_back(byte);
  }
  line.pop_back();
  return line;
}

}  // namespace
}  // namespace weir::bench

int main(int argc, char** argv) {
  using namespace weir::bench;
  auto options = parse_load_options(argc, argv);
  if (!options) return options.error();
  Origin origin;
  if (options->serve && !origin.listen(*options->serve)) {
    fmt::print(stderr, "bench_load: cannot listen on port {}: {}\n", *options->serve, std::strerror(errno));
    return 1;
  }
  if (options->serve && !add_watched(options->watched, serve_until_line(origin))) return 2;
  Load load(*options, origin);
  const bool ran = options->hold ? load.run_and_hold() : load.run();
  fmt::print("{}\n", load.to_json());
  std::fflush(stdout);
  if (options->hold && ran) serve_until_line(origin);
  return load.valid() ? 0 : 1;
}
