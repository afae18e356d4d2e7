// SPDX-License-Identifier: Apache-2.0
//
// The operators' side: health and metrics on a listener and a thread of their own, so that they answer whatever the
// data plane is doing. Never limited, never counted as traffic. Thread safety: construct and destroy from one
// thread; the sources are called on the admin thread.
#pragma once

#include <prometheus/metric_family.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "weir/base/clock.h"
#include "weir/base/result.h"
#include "weir/io/event_loop.h"
#include "weir/server/server.h"

namespace weir::admin {

// What the admin listener asks the rest of the process.
struct Sources {
  std::function<bool()> alive;     // every event loop turns
  std::function<bool()> draining;  // the process is about to end
  std::function<std::vector<prometheus::MetricFamily>()> metrics;
};

class Admin {
 public:
  // `token`: required as `Authorization: Bearer …` by everything but health; absent: loopback or a Unix socket only.
  static Result<std::unique_ptr<Admin>> start(const io::SocketAddress& address, std::optional<std::string> token,
                                              Sources sources, const Clock& clock);
  ~Admin();

  std::string address() const { return server_.address().to_string(); }

 private:
  Admin(std::optional<std::string> token, Sources sources, const Clock& clock);
  server::Answer answer(const server::Request& request) const;
  server::Answer ready(bool verbose) const;
  bool authorized(const http::RequestHead& head) const;

  std::optional<std::string> token_;
  Sources sources_;
  io::EventLoop loop_;
  server::Server server_;
  std::thread thread_;
};

}  // namespace weir::admin
