// SPDX-License-Identifier: Apache-2.0
//
// Asks a gateway's admin listener for a small document over http, by TCP or a Unix socket, and blocks: for commands,
// never for an event loop. Nothing but http is spoken, redirects are not followed.
// Thread safety: one thread.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "weir/base/result.h"
#include "weir/io/curl_client.h"

namespace weir::io {

class HttpClient {
 public:
  struct Place {
    std::string authority;    // e.g. "127.0.0.1:9090"; of a Unix socket any name
    std::string unix_socket;  // its path; empty: TCP
  };
  struct Answer {
    int status = 0;
    std::string body;
  };

  // `target`: begins with '/'. `fields`: whole lines without their ends. Fails when nobody answers, and when the body
  // is larger or takes longer.
  Result<Answer> get(const Place& place, const std::string& target, std::vector<std::string> fields,
                     std::size_t largest, std::chrono::milliseconds time);

 private:
  CurlClient client_;
};

}  // namespace weir::io
