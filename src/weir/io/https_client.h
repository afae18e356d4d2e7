// SPDX-License-Identifier: Apache-2.0
//
// Fetches a small document over https, and blocks: for threads of their own, never for an event loop. The server's
// certificate is verified, redirects are not followed, no other protocol is spoken, proxies of the environment are
// not used. Thread safety: get() on one thread; cancel() from any.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "weir/base/result.h"

namespace weir::io {

class HttpsClient {
 public:
  // `ca`: a file with the certificates that are trusted; empty: those of the system.
  explicit HttpsClient(std::string ca);
  ~HttpsClient();
  HttpsClient(const HttpsClient&) = delete;
  HttpsClient& operator=(const HttpsClient&) = delete;

  // The body of an answer 200. Fails as well when the body is larger or takes longer. Requires: `url` begins with
  // https://.
  Result<std::string> get(const std::string& url, std::size_t largest, std::chrono::milliseconds time);

  // Ends the get() that is under way and all that come.
  void cancel();

 private:
  struct Multi;
  Result<std::string> perform(void* easy, std::string& body, bool& too_large);

  std::string ca_;
  std::unique_ptr<Multi> multi_;
  std::atomic<bool> cancelled_{false};
};

}  // namespace weir::io
