// SPDX-License-Identifier: Apache-2.0
//
// The figures behind the pictures of docs/algorithms.md: the same bursty requests, asked of every algorithm. Prints
// JSON with times in milliseconds; draw.py makes pictures of it.
//
// A request costs a thousand units and the limits allow a thousand times as many, so that what is left can be read to
// a thousandth of a request. That changes no decision.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "weir/limit/limit.h"

namespace {

using weir::limit::Call;
using weir::limit::Cost;
using weir::limit::Limit;
using weir::limit::Outcome;
using weir::limit::Ticks;

constexpr Ticks kMillisecond = 1'000'000;
constexpr Ticks kSecond = 1000 * kMillisecond;
constexpr Ticks kLast = 12'000;   // of the picture, ms
constexpr Ticks kWindow = 4'000;  // W and P, ms
constexpr Cost kUnits = 1000;     // of a request
constexpr Cost kLimit = 8;        // requests

struct Subject {
  std::string name;
  Limit limit;
  Ticks tick = kMillisecond;  // ticks of the limit in a millisecond of the picture
  Ticks origin = 0;           // of the picture, ticks
  Cost cost = kUnits;
  Ticks runs = 0;              // how long a request holds its place, ms; 0: it holds none
  std::vector<Ticks> edges{};  // where its periods begin, if that is not a whole millisecond
};

struct Request {
  Ticks at;
  Outcome outcome;
};

struct Sample {
  double at;
  double used;  // requests
};

struct Picture {
  std::vector<Request> requests;
  std::vector<Sample> samples;
};

// A burst before the edge at 4 s and one behind it, a trickle up to the edge at 8 s, and both again.
std::vector<Ticks> arrivals() {
  std::vector<Ticks> result;
  const auto add = [&](Ticks first, int count, Ticks gap) {
    for (int i = 0; i < count; ++i) result.push_back(first + i * gap);
  };
  add(2'500, 10, 150);
  add(4'150, 10, 150);
  add(6'100, 4, 600);
  add(8'600, 8, 150);
  add(10'300, 3, 600);
  return result;
}

class Run {
 public:
  explicit Run(const Subject& subject) : subject_(subject) {}
  ~Run() { subject_.limit.release(state_); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Picture draw() {
    const std::vector<Ticks> asked = arrivals();
    auto next = asked.begin();
    for (const Ticks moment : moments(asked)) {
      end_leases(moment);
      for (; next != asked.end() && time_of(*next) == moment; ++next) ask(*next, moment);
      picture_.samples.push_back({ms_of(moment), used(moment)});
    }
    return std::move(picture_);
  }

 private:
  using State = std::array<std::int64_t, Limit::kMaxStateWords>;
  struct Lease {
    Call call;
    Ticks ends;
  };

  Ticks time_of(Ticks ms) const { return subject_.origin + ms * subject_.tick; }
  double ms_of(Ticks time) const {
    return static_cast<double>(time - subject_.origin) / static_cast<double>(subject_.tick);
  }

  // Every instant at which what is used can change its course, and the one before it; and a grid.
  std::vector<Ticks> moments(const std::vector<Ticks>& asked) const {
    std::vector<Ticks> result = subject_.edges;
    for (const Ticks edge : subject_.edges) result.push_back(edge - 1);
    const auto add = [&](Ticks ms) {
      if (ms > kLast) return;
      if (ms > 0) result.push_back(time_of(ms) - 1);
      if (ms < kLast) result.push_back(time_of(ms));
    };
    for (Ticks ms = 0; ms <= kLast; ms += 50) add(ms);
    for (const Ticks ms : asked) {
      add(ms);
      add(ms + (subject_.runs > 0 ? subject_.runs : kWindow));
    }
    std::ranges::sort(result);
    result.erase(std::ranges::unique(result).begin(), result.end());
    return result;
  }

  void ask(Ticks ms, Ticks moment) {
    Call call = Call::at(moment);
    call.lease.low = picture_.requests.size() + 1;
    const Outcome outcome = subject_.limit.step(state_, call, subject_.cost);
    if (outcome.admitted && subject_.runs > 0) leases_.push_back({call, time_of(ms + subject_.runs)});
    picture_.requests.push_back({ms, outcome});
  }

  void end_leases(Ticks moment) {
    std::erase_if(leases_, [&](Lease& lease) {
      if (lease.ends > moment) return false;
      lease.call.now = lease.call.wall = moment;
      subject_.limit.give_back(state_, lease.call, subject_.cost, 0);
      return true;
    });
  }

  // Of a queue, which counts whole requests, the way from empty is the more exact one.
  double used(Ticks moment) const {
    const Outcome outcome = subject_.limit.peek(state_, Call::at(moment));
    if (const auto* queue = std::get_if<weir::limit::LeakyBucket>(&subject_.limit.algorithm())) {
      return static_cast<double>(outcome.reset_after) * static_cast<double>(queue->numbers().count) /
             static_cast<double>(queue->numbers().period);
    }
    return static_cast<double>(subject_.limit.capacity() - outcome.remaining) / static_cast<double>(kUnits);
  }

  const Subject& subject_;
  State state_{};
  std::vector<Lease> leases_;
  Picture picture_;
};

std::vector<Subject> subjects() {
  using namespace weir::limit;
  const Ticks window = kWindow * kMillisecond;
  const Cost all = kLimit * kUnits;
  std::vector<Subject> result{
      {"token_bucket", TokenBucket::create({.count = all, .period = window, .capacity = all}).value()},
      {"fixed_window", FixedWindow::create({.capacity = all, .alignment = {.window = window}}).value()},
      {"sliding_window", SlidingWindow::create({.capacity = all, .alignment = {.window = window}}).value()},
      {"sliding_log", SlidingLog::create({.capacity = all, .window = window}).value()},
      {"leaky_bucket", LeakyBucket::create({.count = kLimit, .period = window, .queue = 6}).value()},
      {"concurrency", Concurrency::create({.capacity = 4 * kUnits, .lease = 30'000 * kMillisecond}).value()},
  };
  result[4].cost = 1;
  result[5].runs = 900;

  // A window of the picture is a day here: 28 to 30 March 2026 in Berlin. The clocks go forward on the second.
  const auto days = CivilCalendar::create({.zone = "Europe/Berlin"});
  result.push_back({"calendar", CalendarQuota::create({.capacity = all}, days.value()).value()});
  result.back().tick = Ticks{86'400'000'000'000} / kWindow;
  result.back().origin = Ticks{1'774'652'400} * kSecond;
  result.back().edges = {result.back().origin + 47 * 3600 * kSecond, result.back().origin + 71 * 3600 * kSecond};
  return result;
}

void print(const Subject& subject, const Picture& picture, bool last) {
  std::printf("{\"name\": \"%s\",\n \"requests\": [", subject.name.c_str());
  const char* comma = "";
  for (const Request& request : picture.requests) {
    std::printf("%s\n  {\"at\": %lld, \"admitted\": %s, \"delay\": %lld, \"runs\": %lld}", std::exchange(comma, ","),
                static_cast<long long>(request.at), request.outcome.admitted ? "true" : "false",
                static_cast<long long>(request.outcome.delay / kMillisecond), static_cast<long long>(subject.runs));
  }
  std::printf("],\n \"used\": [");
  comma = "";
  for (const Sample& sample : picture.samples) {
    std::printf("%s\n  [%.6f, %.3f]", std::exchange(comma, ","), sample.at, sample.used);
  }
  std::printf("]}%s\n", last ? "" : ",");
}

}  // namespace

int main() {
  const std::vector<Subject> all = subjects();
  std::printf("[\n");
  for (const Subject& subject : all) print(subject, Run(subject).draw(), &subject == &all.back());
  std::printf("]\n");
}
