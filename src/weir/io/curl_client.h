// SPDX-License-Identifier: Apache-2.0
//
// One GET by libcurl, which blocks: what https_client.h and http_client.h have in common, not for anybody else. One
// protocol is spoken, redirects are not followed, proxies and passwords of the environment are not used.
// Thread safety: get() on one thread; cancel() from any.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "weir/base/result.h"

namespace weir::io {

struct CurlQuestion {
  const std::string& url;
  const char* protocol = "https";     // the only one; a server's certificate is always verified
  std::string ca{};                   // trusted certificates; empty: those of the system
  std::string unix_socket{};          // instead of the address in the URL; empty: none
  std::vector<std::string> fields{};  // whole lines
  std::size_t largest = 0;            // body
  std::chrono::milliseconds time{};
};

struct CurlAnswer {
  long status = 0;
  std::string body;
};

class CurlClient {
 public:
  CurlClient();
  ~CurlClient();
  CurlClient(const CurlClient&) = delete;
  CurlClient& operator=(const CurlClient&) = delete;

  // Fails when the body is larger or takes longer.
  Result<CurlAnswer> get(const CurlQuestion& question);
  // Ends the get() that is under way and all that come.
  void cancel();

 private:
  struct Multi;
  Result<CurlAnswer> perform(void* easy, std::string& body, bool& too_large);

  std::unique_ptr<Multi> multi_;
  std::atomic<bool> cancelled_{false};
};

}  // namespace weir::io
