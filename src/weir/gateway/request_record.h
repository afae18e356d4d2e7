// SPDX-License-Identifier: Apache-2.0
//
// The line that the access log gets about one request: begun while the head is at hand, completed when the answer
// has ended. Thread safety: the worker's thread. Reused from request to request.
#pragma once

#include <string_view>

#include "weir/base/clock.h"
#include "weir/base/text.h"
#include "weir/decide/decision.h"
#include "weir/gateway/generation.h"
#include "weir/gateway/pipeline.h"
#include "weir/gateway/scratch.h"
#include "weir/http/message.h"

namespace weir::gateway {

class RequestRecord {
 public:
  struct Ending {
    int status = 0;
    std::string_view code;  // of a problem; empty: none
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
    nanoseconds duration{};
    nanoseconds upstream{};
    std::string_view upstream_address;
  };

  // Requires: the head, the route and the caller of `scratch` belong to this request. After a verdict of kDecide,
  // `decided` says the rest.
  void begin(WallTime at, std::string_view request_id, const identity::Peer& peer, const http::RequestHead& head,
             const Generation& generation, const Verdict& verdict, const decide::Decision& decision,
             const Scratch& scratch);
  void decided(const Generation& generation, const Verdict& verdict, const decide::Decision& decision);
  // For bytes that never became a request.
  void begin_rejected(WallTime at, const identity::Peer& peer);
  // The whole line, with its line feed.
  std::string_view finish(const Ending& ending);

 private:
  void text(std::string_view key, std::string_view value);
  void number(std::string_view key, std::int64_t value);
  void begin_line(WallTime at);

  Text line_;
};

}  // namespace weir::gateway
