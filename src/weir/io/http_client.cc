// SPDX-License-Identifier: Apache-2.0
#include "weir/io/http_client.h"

#include <utility>

namespace weir::io {

Result<HttpClient::Answer> HttpClient::get(const Place& place, const std::string& target,
                                           std::vector<std::string> fields, std::size_t largest,
                                           std::chrono::milliseconds time) {
  const std::string url = "http://" + place.authority + target;
  auto answer = client_.get({.url = url,
                             .protocol = "http",
                             .ca = {},
                             .unix_socket = place.unix_socket,
                             .fields = std::move(fields),
                             .largest = largest,
                             .time = time});
  if (!answer) return std::unexpected(answer.error());
  return Answer{static_cast<int>(answer->status), std::move(answer->body)};
}

}  // namespace weir::io
