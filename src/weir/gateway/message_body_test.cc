// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/message_body.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace weir::gateway {
namespace {

using http::BodyKind;
using http::Parsed;

struct Read {
  std::string payload;
  std::size_t consumed = 0;
  Parsed state = Parsed::kIncomplete;
};

// Feeds `bytes` in pieces of `step`; bytes that were not taken come again in front of the next piece.
Read read(MessageBody& body, std::string_view bytes, std::size_t step) {
  Read all;
  std::size_t here = 0;
  while (all.state == Parsed::kIncomplete) {
    const auto got = body.next(bytes.substr(all.consumed, here - all.consumed));
    all.payload += got.payload;
    all.consumed += got.consumed;
    all.state = got.state;
    if (got.consumed > 0 || all.state != Parsed::kIncomplete) continue;
    if (here == bytes.size()) break;
    here = std::min(bytes.size(), here + step);
  }
  return all;
}

constexpr std::string_view kNext = "GET / HTTP/1.1\r\n";

TEST(MessageBodyTest, EndsWhereItsFramingSaysHoweverItComes) {
  struct Case {
    http::Body body;
    std::string wire;
    std::string payload;
  };
  const std::vector<Case> cases{
      {{.kind = BodyKind::kNone}, "", ""},
      {{.kind = BodyKind::kLength, .length = 0}, "", ""},
      {{.kind = BodyKind::kLength, .length = 5}, "hello", "hello"},
      {{.kind = BodyKind::kChunked}, "0\r\n\r\n", ""},
      {{.kind = BodyKind::kChunked}, "3\r\nabc\r\n1;x=y\r\nd\r\n0\r\n\r\n", "abcd"},
      {{.kind = BodyKind::kChunked}, "A\r\n0123456789\r\n0\r\nX-T: 1\r\n\r\n", "0123456789"},
  };
  for (const Case& one : cases) {
    const std::string bytes = one.wire + std::string(kNext);
    for (std::size_t step = 1; step <= bytes.size(); ++step) {
      MessageBody body(one.body);
      const Read got = read(body, bytes, step);
      EXPECT_EQ(got.state, Parsed::kComplete) << one.wire;
      EXPECT_TRUE(body.done());
      EXPECT_EQ(got.payload, one.payload) << one.wire << " by " << step;
      EXPECT_EQ(got.consumed, one.wire.size()) << one.wire << " by " << step;
    }
  }
}

TEST(MessageBodyTest, OnlyABodyWithoutFramingEndsWithItsConnection) {
  MessageBody until_close({.kind = BodyKind::kUntilClose});
  EXPECT_EQ(read(until_close, "all there is", 3).payload, "all there is");
  EXPECT_FALSE(until_close.done());
  EXPECT_TRUE(until_close.ends_with_connection());
  MessageBody length({.kind = BodyKind::kLength, .length = 9});
  read(length, "begun", 5);
  EXPECT_EQ(length.announced(), 4U);
  EXPECT_FALSE(length.ends_with_connection());
  MessageBody chunked({.kind = BodyKind::kChunked});
  read(chunked, "5\r\nhello\r\n", 5);
  EXPECT_FALSE(chunked.ends_with_connection());
}

TEST(MessageBodyTest, ABrokenChunkIsRejectedWithAReason) {
  MessageBody body({.kind = BodyKind::kChunked});
  EXPECT_EQ(read(body, "xyz\r\n", 2).state, Parsed::kRejected);
  EXPECT_FALSE(body.rejection().code.empty());
}

}  // namespace
}  // namespace weir::gateway
