// SPDX-License-Identifier: Apache-2.0
#include "weir/explain/request_text.h"

#include <gtest/gtest.h>

namespace weir::explain {
namespace {

RequestWords words_of(const std::string& start, std::vector<std::string> fields = {}) {
  RequestWords words;
  words.start = start;
  words.fields = std::move(fields);
  return words;
}

std::string composed(const RequestWords& words) {
  const auto text = RequestText::compose(words, "shop.example");
  return text ? std::string(text->bytes()) : "invalid";
}

TEST(RequestTextTest, APathAloneIsAGet) {
  EXPECT_EQ(composed(words_of("/a?b=1")), "GET /a?b=1 HTTP/1.1\r\nHost: shop.example\r\n\r\n");
}

TEST(RequestTextTest, FieldsComeInTheirOrderAndAHostOfTheirOwnStays) {
  RequestWords words = words_of("POST /a", {"X-A: 1", "host: b", "X-A: 2"});
  words.body_size = 7;
  EXPECT_EQ(composed(words), "POST /a HTTP/1.1\r\nX-A: 1\r\nhost: b\r\nX-A: 2\r\nContent-Length: 7\r\n\r\n");
}

TEST(RequestTextTest, WordsThatAreNoRequestAreRefused) {
  for (const char* start : {"", "GET ", " /a", "GET /a b", "GET /\r\nX: 1"}) {
    EXPECT_EQ(composed(words_of(start)), "invalid") << start;
  }
  for (const char* field : {"no colon", "A: 1\r\nB: 2", "A: 1\nB"}) {
    EXPECT_EQ(composed(words_of("/", {field})), "invalid") << field;
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
