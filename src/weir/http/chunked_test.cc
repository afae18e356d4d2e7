// SPDX-License-Identifier: Apache-2.0
#include "weir/http/chunked.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "weir/http/exchange_for_tests.h"

namespace weir::http {
namespace {

constexpr Body kChunkedBody{BodyKind::kChunked, 0};

// "complete:content", "incomplete:content" or the code of the rejection; the same for pieces of every size.
std::string outcome(std::string_view input) {
  std::string result;
  for (std::size_t step : {0, 1, 2, 3, 7}) {
    const BodyRead read = read_body(kChunkedBody, input, step);
    const std::string now = read.state == Parsed::kRejected
                                ? read.code
                                : (read.state == Parsed::kComplete ? "complete:" : "incomplete:") + read.content;
    if (step != 0) {
      EXPECT_EQ(now, result) << step << testing::PrintToString(std::string(input.substr(0, 100)));
    }
    result = now;
  }
  return result;
}

struct Row {
  std::string input;
  std::string outcome;
};

void expect_outcomes(const std::vector<Row>& rows) {
  for (const Row& row : rows) EXPECT_EQ(outcome(row.input), row.outcome) << testing::PrintToString(row.input);
}

TEST(ChunkedDecoderTest, ReadsChunks) {
  expect_outcomes(
      {{"0\r\n\r\n", "complete:"},
       {"5\r\nhello\r\n0\r\n\r\n", "complete:hello"},
       {"5\r\nhello\r\n6\r\n world\r\n000\r\n\r\nGET /", "complete:hello world"},
       {"A\r\n0123456789\r\na\r\n\r\n\r\n\r\n\r\n\r\n\r\n0\r\n\r\n", "complete:0123456789\r\n\r\n\r\n\r\n\r\n"},
       {"0000000000000005\r\nhello\r\n0\r\n\r\n", "complete:hello"}});
}

TEST(ChunkedDecoderTest, WaitsForWhatIsMissing) {
  expect_outcomes({{"", "incomplete:"},
                   {"5", "incomplete:"},
                   {"5\r\nhel", "incomplete:hel"},
                   {"5\r\nhello\r\n", "incomplete:hello"},
                   {"5\r\nhello\r\n0\r\n", "incomplete:hello"},
                   {"0\r\n\r", "incomplete:"},
                   {"7fffffffffffffff\r\nx", "incomplete:x"}});
}

TEST(ChunkedDecoderTest, ASizeIsOneToSixteenHexDigits) {
  for (const char* size : {"", "+5", "-5", "0x5", "5_0", " 5", "5 ", "\t5", "g", "8000000000000000",
                           "ffffffffffffffff", "00000000000000005", "5,", "5 ;a"}) {
    EXPECT_EQ(outcome(std::string(size) + "\r\nhello\r\n0\r\n\r\n"), "bad-chunk-size") << size;
  }
  expect_outcomes({{"5\nhello\r\n0\r\n\r\n", "lone-lf"}, {"5\rhello\r\n0\r\n\r\n", "lone-cr"}});
}

TEST(ChunkedDecoderTest, DataEndsWhereTheSizeSays) {
  expect_outcomes({{"5\r\nhello!\r\n0\r\n\r\n", "bad-chunk-end"},
                   {"5\r\nhell\r\n0\r\n\r\n", "lone-lf"},
                   {"5\r\nhello\n0\r\n\r\n", "lone-lf"},
                   {"5\r\nhello\rx", "bad-chunk-end"}});
}

TEST(ChunkedDecoderTest, ExtensionsAreCheckedAndDropped) {
  for (const char* extension : {";a", ";a=b", ";a=\"b;\\\"\\\\c\t\xC3\xA4\"", ";a;b=c;d=\"\"", ";_!=~"}) {
    EXPECT_EQ(outcome("2" + std::string(extension) + "\r\nhi\r\n0" + extension + "\r\n\r\n"), "complete:hi")
        << extension;
  }
  for (const char* extension :
       {";", ";;", ";a=", ";a;", ";=b", "; a", ";a =b", ";a= b", ";a=b ", ";a=\"b\"c", ";a=\"\x01\"", ";a=\"\x7F\"",
        ";a=\"\\\x01\"", ";a=b=c", ";a\x80", ";a,b", ";a=\"b\r\n"}) {
    EXPECT_EQ(outcome("2" + std::string(extension) + "\r\nhi\r\n0\r\n\r\n"), "bad-chunk-extension") << extension;
  }
}

TEST(ChunkedDecoderTest, ExtensionsOfAMessageTakeAtMost4096Bytes) {
  const std::string half = ";" + std::string(2047, 'x');
  EXPECT_EQ(outcome("1" + half + "\r\na\r\n0" + half + "\r\n\r\n"), "complete:a");
  EXPECT_EQ(outcome("1" + half + "\r\na\r\n0" + half + "y\r\n\r\n"), "chunk-extensions-too-long");
  const std::string quoted = ";a=\"" + std::string(4091, ';') + "\"";
  EXPECT_EQ(outcome("0" + quoted + "\r\n\r\n"), "complete:");
  EXPECT_EQ(outcome("1" + quoted + "\r\na\r\n0;b\r\n\r\n"), "chunk-extensions-too-long");
}

TEST(ChunkedDecoderTest, TrailersAreCheckedAndDropped) {
  expect_outcomes({{"0\r\nA: b\r\nX_Y:\r\n\r\nrest", "complete:"},
                   {"0\r\nA : b\r\n\r\n", "bad-field-name"},
                   {"0\r\n: b\r\n\r\n", "bad-field-name"},
                   {"0\r\nA\r\n\r\n", "no-colon"},
                   {"0\r\n A: b\r\n\r\n", "folded-line"},
                   {"0\r\nA: b\r\n c\r\n\r\n", "folded-line"},
                   {"0\r\nA: \x01\r\n\r\n", "bad-field-value"},
                   {"0\r\nA: b\n\r\n", "lone-lf"},
                   {"0\r\nA: b\rc", "lone-cr"},
                   {"0\r\n\rx", "lone-cr"},
                   {"0\r\n\n", "lone-lf"}});
  ChunkedDecoder decoder;
  EXPECT_FALSE(decoder.had_trailers());
  decoder.next("0\r\nA: b\r\n\r\n");
  EXPECT_TRUE(decoder.had_trailers());
}

TEST(ChunkedDecoderTest, TrailersHaveTheLimitsOfAHead) {
  const auto with_trailers = [](int count) {
    std::string text = "0\r\n";
    for (int i = 0; i < count; ++i) text += "A: b\r\n";
    return text + "\r\n";
  };
  EXPECT_EQ(outcome(with_trailers(100)), "complete:");
  EXPECT_EQ(outcome(with_trailers(101)), "too-many-trailers");
  EXPECT_EQ(outcome("0\r\nA:" + std::string(65536 - 6, 'x') + "\r\n\r\n"), "complete:");
  EXPECT_EQ(outcome("0\r\nA:" + std::string(65536 - 5, 'x') + "\r\n\r\n"), "trailers-too-large");
}

TEST(ChunkedDecoderTest, PayloadsLieInTheInput) {
  const std::string input = "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\nGET";
  ChunkedDecoder decoder;
  auto step = decoder.next(input);
  EXPECT_EQ(step.payload.data(), input.data() + 3);
  EXPECT_EQ(step.payload, "abc");
  EXPECT_EQ(step.consumed, 6U);
  step = decoder.next(std::string_view(input).substr(6));
  EXPECT_EQ(step.payload, "de");
  step = decoder.next(std::string_view(input).substr(13));
  EXPECT_EQ(step.state, Parsed::kComplete);
  EXPECT_EQ(step.consumed, input.size() - 13 - 3);
  EXPECT_TRUE(step.payload.empty());
}

TEST(ChunkedDecoderTest, ARejectionIsNotConsumedAndStands) {
  ChunkedDecoder decoder;
  EXPECT_EQ(decoder.next("5x").state, Parsed::kRejected);
  EXPECT_EQ(decoder.next("\r\n").state, Parsed::kRejected);
  EXPECT_EQ(decoder.rejection().status, 400);
  EXPECT_EQ(decoder.rejection().code, "bad-chunk-size");
}

TEST(ChunkLineTest, IsWrittenInHex) {
  char out[18];
  const auto line = [&](std::uint64_t size) { return std::string(out, write_chunk_line(out, size)); };
  EXPECT_EQ(line(0), "0\r\n");
  EXPECT_EQ(line(15), "f\r\n");
  EXPECT_EQ(line(16), "10\r\n");
  EXPECT_EQ(line(500), "1f4\r\n");
  EXPECT_EQ(line(UINT64_MAX), "ffffffffffffffff\r\n");
}

}  // namespace
}  // namespace weir::http
