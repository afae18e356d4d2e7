// SPDX-License-Identifier: Apache-2.0
//
// Fetches a small document over https, and blocks: for threads of their own, never for an event loop. The server's
// certificate is verified, redirects are not followed, no other protocol is spoken, proxies of the environment are
// not used. Thread safety: get() on one thread; cancel() from any.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "weir/base/result.h"
#include "weir/io/curl_client.h"

namespace weir::io {

class HttpsClient {
 public:
  // `ca`: a file with the certificates that are trusted; empty: those of the system.
  explicit HttpsClient(std::string ca) : ca_(std::move(ca)) {}

  // The body of an answer 200. Fails as well when the body is larger or takes longer. Requires: `url` begins with
  // https://.
  Result<std::string> get(const std::string& url, std::size_t largest, std::chrono::milliseconds time);

  // Ends the get() that is under way and all that come.
  void cancel() { client_.cancel(); }

 private:
  std::string ca_;
  CurlClient client_;
};

}  // namespace weir::io
