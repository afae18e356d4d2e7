// SPDX-License-Identifier: Apache-2.0
//
// What some gateway has read of the policies, in Redis for all of them, so that the database is asked once and not by
// each. A value says of which revision it is; whoever takes it decides whether that is new enough. Also the channel
// on which changes are announced. It has a loop and a thread of its own. When Redis fails, nothing is found and
// nothing is heard, at once; nobody waits for it longer than kBudget. Thread safety: any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "weir/base/clock.h"
#include "weir/io/event_loop.h"
#include "weir/io/task.h"
#include "weir/lookup/known.h"
#include "weir/lookup/record_text.h"
#include "weir/redis/client.h"
#include "weir/redis/counters.h"
#include "weir/redis/subscriber.h"

namespace weir::lookup {

class SharedCache {
 public:
  static constexpr nanoseconds kBudget = std::chrono::milliseconds(5);

  using Done = std::function<void(std::optional<Said>)>;

  // `prefix`: of all keys and of the channel. `told`: called by the cache's thread when somebody announces a change,
  // and when an announcement may have been missed.
  SharedCache(const Clock& clock, redis::ClientSettings settings, std::string prefix, const Lifetimes& lifetimes,
              const std::function<void()>& told);
  ~SharedCache();
  SharedCache(const SharedCache&) = delete;
  SharedCache& operator=(const SharedCache&) = delete;

  void start();
  // Everybody who waits gets nothing; nobody is told anything any more.
  void stop();

  // `done` is called once, by the cache's thread, unless it was stopped.
  void get(const partners::Subject& subject, Done done);
  void put(const partners::Subject& subject, const Said& said);
  // Tells all gateways of a change.
  void announce();

 private:
  io::Detached fetch(std::string key, Done done);
  io::Detached store(std::string key, std::string value, nanoseconds life);
  io::Detached publish();
  std::string key_of(const partners::Subject& subject) const;

  const redis::ClientSettings settings_;
  const std::string prefix_;
  const Lifetimes lifetimes_;
  redis::Counters counters_;
  io::EventLoop loop_;
  redis::Client client_;
  redis::Subscriber subscriber_;
  std::thread thread_;
};

// Where changes are announced.
std::string channel_of(std::string_view prefix);

}  // namespace weir::lookup
