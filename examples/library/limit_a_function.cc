// SPDX-License-Identifier: Apache-2.0
//
// A token bucket in front of a function: three calls at once, then one each half second. create() says
// what is wrong with numbers that are out of range; these are not.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>

#include "weir/limit/token_bucket.h"

using namespace std::chrono_literals;
using Nanoseconds = std::chrono::nanoseconds;

void send_mail(int number) { std::printf("mail %d: sent\n", number); }

int main() {
  const auto bucket =
      weir::limit::TokenBucket::create({.count = 2, .period = Nanoseconds(1s).count(), .capacity = 3}).value();
  std::array<std::int64_t, 2> state{};  // all zero: never used
  const auto start = std::chrono::steady_clock::now();
  for (int number = 1; number <= 5; ++number) {
    const Nanoseconds now = std::chrono::steady_clock::now() - start;
    const weir::limit::Outcome outcome = bucket.step(state, now.count(), 1);
    if (outcome.admitted) {
      send_mail(number);
    } else {
      std::printf("mail %d: try again in %.1f s\n", number, static_cast<double>(*outcome.retry_after) / 1e9);
    }
  }
}
