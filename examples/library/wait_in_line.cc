// SPDX-License-Identifier: Apache-2.0
//
// Workers that wait for their turn: jobs come all at once and start 50 ms apart. Up to three wait in line; who finds
// the line full is told when to come back.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

#include "weir/limit/leaky_bucket.h"

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;
using weir::limit::LeakyBucket;

// The state of a limit belongs to whoever holds it: threads that share it need a lock.
class Line {
 public:
  explicit Line(const LeakyBucket& bucket) : bucket_(bucket) {}

  weir::limit::Outcome enter() {
    const std::lock_guard lock(mutex_);
    weir::limit::Outcome outcome;
    bucket_.step(state_, nanoseconds(steady_clock::now() - opened_).count(), 1, outcome);
    return outcome;
  }
  steady_clock::time_point opened() const { return opened_; }

 private:
  const LeakyBucket bucket_;
  const steady_clock::time_point opened_ = steady_clock::now();
  std::mutex mutex_;
  std::array<std::int64_t, 2> state_{};
};

void work(int job, nanoseconds time) {
  std::printf("job %d: starts at %lld ms\n", job, static_cast<long long>(time / 1ms));
}

int main() {
  Line line(LeakyBucket::create({.count = 20, .period = nanoseconds(1s).count(), .queue = 3}).value());
  std::vector<std::jthread> workers;
  for (int job = 1; job <= 6; ++job) {
    const weir::limit::Outcome outcome = line.enter();
    if (!outcome.admitted) {
      std::printf("job %d: the line is full, room in %.2f s\n", job, static_cast<double>(*outcome.retry_after) / 1e9);
      continue;
    }
    workers.emplace_back([=, &line] {
      std::this_thread::sleep_until(line.opened() + nanoseconds(outcome.at + outcome.delay));
      work(job, steady_clock::now() - line.opened());
    });
  }
}
