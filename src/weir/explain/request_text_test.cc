// SPDX-License-Identifier: Apache-2.0
#include "weir/explain/request_text.h"

#include <gtest/gtest.h>

namespace weir::explain {
namespace {

std::string composed(const RequestWords& words) {
  const auto text = RequestText::compose(words, "shop.example");
  return text ? std::string(text->bytes()) : "invalid";
}

TEST(RequestTextTest, APathAloneIsAGet) {
  EXPECT_EQ(composed({.start = "/a?b=1"}), "GET /a?b=1 HTTP/1.1\r\nHost: shop.example\r\n\r\n");
}

TEST(RequestTextTest, FieldsComeInTheirOrderAndAHostOfTheirOwnStays) {
  EXPECT_EQ(composed({.start = "POST /a", .fields = {"X-A: 1", "host: b", "X-A: 2"}, .body_size = 7}),
            "POST /a HTTP/1.1\r\nX-A: 1\r\nhost: b\r\nX-A: 2\r\nContent-Length: 7\r\n\r\n");
}

TEST(RequestTextTest, WordsThatAreNoRequestAreRefused) {
  for (const char* start : {"", "GET ", " /a", "GET /a b", "GET /\r\nX: 1"}) {
    EXPECT_EQ(composed({.start = start}), "invalid") << start;
  }
  for (const char* field : {"no colon", "A: 1\r\nB: 2", "A: 1\nB"}) {
    EXPECT_EQ(composed({.start = "/", .fields = {field}}), "invalid") << field;
  }
}

TEST(RequestTextTest, AnAbsoluteTargetHasItsOwnAuthority) {
  EXPECT_EQ(authority_of("http://shop.example:80/a?b"), "shop.example:80");
  EXPECT_EQ(authority_of("/a?u=http://x/"), "");
  EXPECT_EQ(path_of("http://shop.example/a?b"), "/a");
  EXPECT_EQ(path_of("http://shop.example?b"), "/");
  EXPECT_EQ(path_of("http://shop.example"), "/");
  EXPECT_EQ(path_of("/a?b"), "/a");
}

}  // namespace
}  // namespace weir::explain
