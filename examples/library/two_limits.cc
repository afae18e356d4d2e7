// SPDX-License-Identifier: Apache-2.0
//
// Two limits at once, for each of many customers: two requests a second with a burst of three, and four requests in a
// calendar month. A request is charged to both or to none.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <span>
#include <thread>

#include "weir/limit/limit.h"
#include "weir/store/memory/memory_store.h"

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
namespace limit = weir::limit;
namespace store = weir::store;

store::Layout limits_of_a_customer() {
  const auto bucket = limit::TokenBucket::create({.count = 2, .period = nanoseconds(1s).count(), .capacity = 3});
  const auto months = limit::CivilCalendar::create({.unit = limit::CivilCalendar::Unit::kMonth, .zone = "UTC"});
  const auto quota = limit::CalendarQuota::create({.capacity = 4}, months.value());
  return {.kind = "customer", .slots = {{"per second", {bucket.value()}}, {"per month", {quota.value()}}}};
}

// Monotonic time for the bucket, calendar time for the month.
limit::Call call_now() {
  static const auto start = std::chrono::steady_clock::now();
  return {.now = nanoseconds(std::chrono::steady_clock::now() - start).count(),
          .wall = nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count()};
}

// The longest wait that one of the limits asks for. (No retry_after: never. Here no request costs that much.)
nanoseconds wait_of(std::span<const limit::Outcome> outcomes) {
  nanoseconds longest{0};
  for (const limit::Outcome& outcome : outcomes) longest = std::max(longest, nanoseconds(*outcome.retry_after));
  return longest;
}

int main() {
  store::MemoryStore counters({.max_accounts = 100'000});
  const store::MemoryStore::Kind customers = counters.adopt(limits_of_a_customer());
  const weir::Fingerprint acme = counters.subject("acme");
  const std::array<store::Charge, 2> charges{{{.slot = 0, .cost = 1}, {.slot = 1, .cost = 1}}};

  for (int request = 1; request <= 6; ++request) {
    std::array<limit::Outcome, 2> outcomes;
    const bool admitted = counters.acquire(customers, acme, charges, call_now(), outcomes);
    std::printf("request %d: %s, left: %d now and %d this month", request, admitted ? "admitted" : "refused",
                static_cast<int>(outcomes[0].remaining), static_cast<int>(outcomes[1].remaining));
    if (admitted) {
      std::puts("");
      continue;
    }
    const nanoseconds wait = wait_of(outcomes);
    std::printf(", retry after %.1f s\n", static_cast<double>(wait.count()) / 1e9);
    if (wait < 1s) std::this_thread::sleep_for(wait);
  }
}
