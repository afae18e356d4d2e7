// SPDX-License-Identifier: Apache-2.0
#include "weir/io/https_client.h"

#include <fmt/format.h>

namespace weir::io {

Result<std::string> HttpsClient::get(const std::string& url, std::size_t largest, std::chrono::milliseconds time) {
  auto answer = client_.get({.url = url, .protocol = "https", .ca = ca_, .largest = largest, .time = time});
  if (!answer) return std::unexpected(answer.error());
  if (answer->status == 200) return std::move(answer->body);
  return std::unexpected(
      Error{ErrorKind::kUnavailable, Origin::kUpstream, fmt::format("the answer is {}", answer->status)});
}

}  // namespace weir::io
