// SPDX-License-Identifier: Apache-2.0
#include "weir/io/http_client.h"

#include <gtest/gtest.h>

namespace weir::io {
namespace {

TEST(HttpClientTest, NobodyThereIsAFailureAndNotAnAnswer) {
  HttpClient client;
  const auto answer = client.get({.authority = "localhost", .unix_socket = "/nonexistent/socket"}, "/", {}, 1000,
                                 std::chrono::milliseconds(2000));
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().kind, ErrorKind::kUnavailable);
}

}  // namespace
}  // namespace weir::io
