// SPDX-License-Identifier: Apache-2.0
#include "weir/io/http_client.h"

#include <gtest/gtest.h>

namespace weir::io {
namespace {

TEST(HttpClientTest, ASegmentHoldsNothingThatMeansSomethingInAPath) {
  EXPECT_EQ(HttpClient::segment("acme,MAIN"), "acme%2CMAIN");
  EXPECT_EQ(HttpClient::segment("a/b?c#d%e\\"), "a%2Fb%3Fc%23d%25e%5C");
  EXPECT_EQ(HttpClient::segment("\xC3\xA9 "), "%C3%A9%20");
  EXPECT_EQ(HttpClient::segment("A-z_0.9~"), "A-z_0.9~");
}

TEST(HttpClientTest, NobodyThereIsAFailureAndNotAnAnswer) {
  HttpClient client;
  const auto answer = client.get({.authority = "localhost", .unix_socket = "/nonexistent/socket"}, "/", {}, 1000,
                                 std::chrono::milliseconds(2000));
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().kind, ErrorKind::kUnavailable);
}

}  // namespace
}  // namespace weir::io
