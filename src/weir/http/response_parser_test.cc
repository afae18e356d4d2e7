// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "weir/http/padded_bytes.h"
#include "weir/http/parser.h"

namespace weir::http {
namespace {

using namespace std::string_literals;

class Read {
 public:
  explicit Read(std::string_view text, bool to_head = false) : bytes_(text) {
    parser_.reset(to_head);
    state_ = parser_.parse(bytes_.view());
  }

  Parsed state() const { return state_; }
  const ResponseHead& head() const { return parser_.head(); }
  std::string outcome() const {
    if (state_ == Parsed::kComplete) return "complete";
    if (state_ == Parsed::kIncomplete) return "incomplete";
    EXPECT_EQ(parser_.rejection().status, 502);
    return std::string(parser_.rejection().code);
  }

 private:
  PaddedBytes bytes_;
  ResponseParser parser_;
  Parsed state_;
};

std::string with_fields(std::string_view fields) { return "HTTP/1.1 200 OK\r\n" + std::string(fields) + "\r\n"; }

TEST(ResponseParserTest, ReadsAUsualAnswer) {
  const Read read(with_fields("Content-Type: text/plain\r\nContent-Length: 3\r\nX_Y: z\r\n") + "abc");
  ASSERT_EQ(read.outcome(), "complete");
  EXPECT_EQ(read.head().status, 200);
  EXPECT_EQ(read.head().reason, "OK");
  EXPECT_EQ(read.head().body.kind, BodyKind::kLength);
  EXPECT_EQ(read.head().body.length, 3U);
  EXPECT_TRUE(read.head().keep_alive);
  EXPECT_EQ(read.head().fields.size(), 3U);
  EXPECT_EQ(read.head().value(*read.head().find(FieldId::kContentType)), "text/plain");
  EXPECT_EQ(read.head().find(FieldId::kDate), nullptr);
}

TEST(ResponseParserTest, AReasonPhraseIsFree) {
  struct Row {
    std::string line, reason;
  };
  const std::vector<Row> rows = {{"HTTP/1.1 200", ""},
                                 {"HTTP/1.1 200 ", ""},
                                 {"HTTP/1.0 200  x ", " x "},
                                 {"HTTP/1.1 599 ?", "?"},
                                 {"HTTP/1.1 404 \xC3\xA4\t\x01\x7F", "\xC3\xA4\t\x01\x7F"}};
  for (const Row& row : rows) {
    const Read read(row.line + "\r\n\r\n");
    ASSERT_EQ(read.outcome(), "complete") << row.line;
    EXPECT_EQ(read.head().reason, row.reason);
  }
}

TEST(ResponseParserTest, RefusesBrokenStatusLines) {
  struct Row {
    std::string line, outcome;
  };
  const std::vector<Row> rows = {{"HTTP/1.2 200 OK\r\n", "bad-status-line"},
                                 {"HTTP/2.0 200 OK\r\n", "bad-status-line"},
                                 {"HTTP/1.1  200 OK\r\n", "bad-status-line"},
                                 {"http/1.1 200 OK\r\n", "bad-status-line"},
                                 {"HTTP/1.1 20 OK\r\n", "bad-status-line"},
                                 {"HTTP/1.1 2000 OK\r\n", "bad-status-line"},
                                 {"HTTP/1.1 099 OK\r\n", "bad-status-line"},
                                 {"HTTP/1.1 600 OK\r\n", "bad-status-line"},
                                 {"HTTP/1.1 2x0 OK\r\n", "bad-status-line"},
                                 {"HTTP/1.1 200OK\r\n", "bad-status-line"},
                                 {"\r\nHTTP/1.1 200 OK\r\n", "bad-status-line"},
                                 {"HTTP/1.1 200 a\0b\r\n"s, "bad-status-line"},
                                 {"HTTP/1.1\r\n", "bad-status-line"},
                                 {"HTTP/1.1 200 OK\n", "lone-lf"},
                                 {"HTTP/1.1 200\n", "lone-lf"},
                                 {"HTTP/1.1 200 OK\rx", "lone-cr"},
                                 {"HTTP/1.1 200", "incomplete"},
                                 {"<html>", "bad-status-line"}};
  for (const Row& row : rows) EXPECT_EQ(Read(row.line).outcome(), row.outcome) << row.line;
}

TEST(ResponseParserTest, FieldsAreAsStrictAsInRequests) {
  struct Row {
    std::string fields, outcome;
  };
  const std::vector<Row> rows = {{"A : b\r\n", "bad-field-name"},
                                 {"A: b\r\n c\r\n", "folded-line"},
                                 {"A: b\x01\r\n", "bad-field-value"},
                                 {"A: b\n", "lone-lf"},
                                 {"Content-Length: 5, 10\r\n", "bad-content-length"},
                                 {"Content-Length: 5, 5\r\n", "bad-content-length"},
                                 {"Content-Length: 5\r\nContent-Length: 10\r\n", "repeated-field"},
                                 {"Content-Length: 5\r\nContent-Length: 5\r\n", "repeated-field"},
                                 {"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "two-body-lengths"},
                                 {"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "two-body-lengths"},
                                 {"Transfer-Encoding: gzip, chunked\r\n", "bad-transfer-encoding"},
                                 {"Transfer-Encoding: identity\r\n", "bad-transfer-encoding"},
                                 {"Set-Cookie: a\r\nSet-Cookie: b\r\nDate: x\r\nDate: y\r\n", "complete"}};
  for (const Row& row : rows) EXPECT_EQ(Read(with_fields(row.fields)).outcome(), row.outcome) << row.fields;
  EXPECT_EQ(Read("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").outcome(), "transfer-encoding-in-http10");
}

TEST(ResponseParserTest, StatusAndMethodDecideAboutTheBody) {
  struct Row {
    std::string status, fields;
    bool to_head;
    BodyKind kind;
    bool stray;
  };
  const std::string length = "Content-Length: 5\r\n";
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  const std::vector<Row> rows = {{"200", length, false, BodyKind::kLength, false},
                                 {"200", chunked, false, BodyKind::kChunked, false},
                                 {"200", "", false, BodyKind::kUntilClose, false},
                                 {"200", length, true, BodyKind::kNone, false},
                                 {"200", chunked, true, BodyKind::kNone, false},
                                 {"200", "", true, BodyKind::kNone, false},
                                 {"304", length, false, BodyKind::kNone, false},
                                 {"304", "", false, BodyKind::kNone, false},
                                 {"204", length, false, BodyKind::kNone, true},
                                 {"204", chunked, false, BodyKind::kNone, true},
                                 {"204", "Content-Length: 0\r\n", false, BodyKind::kNone, false},
                                 {"103", "", false, BodyKind::kNone, false},
                                 {"101", "", false, BodyKind::kNone, false},
                                 {"100", chunked, false, BodyKind::kNone, true}};
  for (const Row& row : rows) {
    const Read read("HTTP/1.1 " + row.status + " x\r\n" + row.fields + "\r\n", row.to_head);
    ASSERT_EQ(read.outcome(), "complete");
    EXPECT_EQ(read.head().body.kind, row.kind) << row.status << row.fields << row.to_head;
    EXPECT_EQ(read.head().stray_body, row.stray) << row.status << row.fields << row.to_head;
    EXPECT_EQ(read.head().keep_alive, row.kind != BodyKind::kUntilClose);
  }
}

TEST(ResponseParserTest, ConnectionAndVersionDecideAboutReuse) {
  EXPECT_FALSE(Read(with_fields("Content-Length: 0\r\nConnection: close\r\n")).head().keep_alive);
  EXPECT_FALSE(Read("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n").head().keep_alive);
  EXPECT_TRUE(Read("HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n").head().keep_alive);
  EXPECT_TRUE(Read(with_fields("Connection: x-a\r\n")).head().names_fields);
  EXPECT_TRUE(Read("HTTP/1.1 101 x\r\nConnection: Upgrade\r\n\r\n").head().asks_upgrade);
}

TEST(ResponseParserTest, LimitsAreFixed) {
  const auto with_cookies = [](int count) {
    std::string fields;
    for (int i = 0; i < count; ++i) fields += "Set-Cookie: a\r\n";
    return with_fields(fields);
  };
  EXPECT_EQ(Read(with_cookies(100)).outcome(), "complete");
  EXPECT_EQ(Read(with_cookies(101)).outcome(), "too-many-fields");
  const std::size_t frame = with_fields("A: \r\n").size();
  EXPECT_EQ(Read(with_fields("A: " + std::string(65536 - frame, 'x') + "\r\n")).outcome(), "complete");
  EXPECT_EQ(Read(with_fields("A: " + std::string(65537 - frame, 'x') + "\r\n")).outcome(), "head-too-large");
}

TEST(ResponseParserTest, CutAnywhereTheResultIsTheSame) {
  const std::string text =
      "HTTP/1.1 404 Not \xC3\x84 Found\r\nContent-Length: 12\r\nConnection: close, x\r\nA:\t b \r\n\r\n";
  for (std::size_t cut = 1; cut < text.size(); ++cut) {
    ResponseParser parser;
    parser.reset(false);
    ASSERT_EQ(parser.parse(PaddedBytes(text.substr(0, cut)).view()), Parsed::kIncomplete) << cut;
    const PaddedBytes whole(text);
    ASSERT_EQ(parser.parse(whole.view()), Parsed::kComplete) << cut;
    EXPECT_EQ(parser.head().status, 404);
    EXPECT_EQ(parser.head().reason, "Not \xC3\x84 Found");
    EXPECT_EQ(parser.head().body.length, 12U);
    EXPECT_EQ(parser.head().value(parser.head().fields[2]), "b");
    EXPECT_EQ(parser.consumed(), text.size());
  }
}

}  // namespace
}  // namespace weir::http
