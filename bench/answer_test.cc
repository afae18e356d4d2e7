// SPDX-License-Identifier: Apache-2.0
#include "answer.h"

#include <gtest/gtest.h>

namespace weir::bench {
namespace {

using Verdict = AnswerScanner::Verdict;

constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 5\r\n\r\nhello";

TEST(AnswerScannerTest, EveryPrefixIsIncompleteAndTheWholeIsComplete) {
  for (std::size_t n = 0; n < kOk.size(); ++n) {
    EXPECT_EQ(AnswerScanner().scan(kOk.substr(0, n)), Verdict::kIncomplete) << n;
  }
  AnswerScanner scanner;
  EXPECT_EQ(scanner.scan(kOk), Verdict::kComplete);
  EXPECT_EQ(scanner.last().status, 200);
  EXPECT_EQ(scanner.last().body, 5u);
  EXPECT_EQ(scanner.last().size, kOk.size());
}

TEST(AnswerScannerTest, ALearntShapeDoesNotHideADifferentAnswer) {
  AnswerScanner scanner;
  ASSERT_EQ(scanner.scan(kOk), Verdict::kComplete);
  EXPECT_EQ(scanner.scan("HTTP/1.1 200 OK\r\nX-A: 2\r\nContent-Length: 5\r\n\r\nworld"), Verdict::kComplete);
  EXPECT_EQ(scanner.scan("HTTP/1.1 429 No\r\nX-A: 2\r\nContent-Length: 5\r\n\r\nworld"), Verdict::kComplete);
  EXPECT_EQ(scanner.last().status, 429);
  EXPECT_EQ(scanner.scan("HTTP/1.1 200 OK\r\nX-A: 2\r\nContent-Length: 6\r\n\r\nworld"), Verdict::kIncomplete);
  EXPECT_EQ(scanner.scan("HTTP/1.1 200 OK\r\nX-A: 2\r\nContent-Length: 4\r\n\r\nworld"), Verdict::kMalformed);
}

TEST(AnswerScannerTest, TheFieldNameIsFoundInAnyCase) {
  AnswerScanner scanner;
  EXPECT_EQ(scanner.scan("HTTP/1.1 204 No Content\r\ncontent-LENGTH:0\r\n\r\n"), Verdict::kComplete);
  EXPECT_EQ(scanner.last().body, 0u);
}

TEST(AnswerScannerTest, WhatItCannotDelimitIsMalformed) {
  for (const std::string_view text : {
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nhello",
           "HTTP/1.1 2x0 OK\r\nContent-Length: 5\r\n\r\nhello",
           "GET / HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
       }) {
    EXPECT_EQ(AnswerScanner().scan(text), Verdict::kMalformed) << text;
  }
}

}  // namespace
}  // namespace weir::bench
