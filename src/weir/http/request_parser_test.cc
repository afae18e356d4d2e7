// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cctype>
#include <cstring>
#include <string>
#include <vector>

#include "weir/http/exchange_for_tests.h"
#include "weir/http/parser.h"

namespace weir::http {
namespace {

using namespace std::string_literals;

// A request's bytes and the parser that read them, for questions about the head.
class Read {
 public:
  explicit Read(std::string_view text, const RequestRules& rules = {}) : bytes_(text), parser_(rules) {
    state_ = parser_.parse(bytes_.view());
  }

  Parsed state() const { return state_; }
  const RequestHead& head() const { return parser_.head(); }
  const RequestParser& parser() const { return parser_; }
  std::string outcome() const {
    if (state_ == Parsed::kComplete) return "complete";
    if (state_ == Parsed::kIncomplete) return "incomplete";
    return std::to_string(parser_.rejection().status) + " " + std::string(parser_.rejection().code);
  }

 private:
  PaddedBytes bytes_;
  RequestParser parser_;
  Parsed state_;
};

std::string with_line(std::string_view line) { return std::string(line) + "\r\nHost: a\r\n\r\n"; }
std::string with_target(std::string_view target) { return with_line("GET " + std::string(target) + " HTTP/1.1"); }
std::string with_fields(std::string_view fields) {
  return "POST / HTTP/1.1\r\nHost: a\r\n" + std::string(fields) + "\r\n";
}
std::string with_host(std::string_view host) { return "GET / HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n"; }

struct Row {
  std::string input;
  std::string outcome;
};

void expect_outcomes(const std::vector<Row>& rows, const RequestRules& rules = {}) {
  for (const Row& row : rows) {
    EXPECT_EQ(Read(row.input, rules).outcome(), row.outcome) << testing::PrintToString(row.input.substr(0, 200));
  }
}

TEST(RequestParserTest, ReadsAUsualRequest) {
  const Read read(
      "GET /v1/users?limit=20 HTTP/1.1\r\nHost: api.example.com:8080\r\nAccept:  text/html \t\r\n\r\nrest");
  ASSERT_EQ(read.state(), Parsed::kComplete);
  const RequestHead& head = read.head();
  EXPECT_EQ(head.method, "GET");
  EXPECT_EQ(head.method_id, Method::kGet);
  EXPECT_EQ(head.target, "/v1/users?limit=20");
  EXPECT_EQ(head.path, "/v1/users");
  EXPECT_EQ(head.query, "?limit=20");
  EXPECT_EQ(head.host, "api.example.com:8080");
  EXPECT_EQ(head.body.kind, BodyKind::kNone);
  EXPECT_TRUE(head.keep_alive);
  ASSERT_EQ(head.fields.size(), 2U);
  EXPECT_EQ(head.fields[1].name(head.bytes), "Accept");
  EXPECT_EQ(head.value(head.fields[1]), "text/html");
  EXPECT_EQ(head.fields[1].line(head.bytes), "Accept:  text/html \t\r\n");
  EXPECT_EQ(read.parser().consumed(), head.bytes.size());
}

TEST(RequestParserTest, UpToFourEmptyLinesComeBeforeTheRequestLine) {
  const std::string get = with_target("/");
  expect_outcomes({{"\r\n\r\n\r\n\r\n" + get, "complete"},
                   {"\r\n\r\n\r\n\r\n\r\n" + get, "400 too-many-empty-lines"},
                   {"\n" + get, "400 lone-lf"},
                   {"\r" + get, "400 lone-cr"}});
  const Read read("\r\n\r\n" + get);
  EXPECT_EQ(read.parser().consumed(), get.size() + 4);
  EXPECT_TRUE(read.head().bytes.starts_with("GET"));
}

TEST(RequestParserTest, ARequestHasStartedWithItsFirstByte) {
  EXPECT_FALSE(Read("").parser().started());
  EXPECT_FALSE(Read("\r\n").parser().started());
  EXPECT_TRUE(Read("\r\nG").parser().started());
}

TEST(RequestParserTest, ARequestLineHasExactlyTwoSpaces) {
  expect_outcomes({{with_line("GET  / HTTP/1.1"), "400 bad-request-line"},
                   {with_line("GET /  HTTP/1.1"), "400 bad-request-line"},
                   {with_line("GET\t/ HTTP/1.1"), "400 bad-request-line"},
                   {with_line("GET /\tHTTP/1.1"), "400 bad-request-line"},
                   {with_line(" GET / HTTP/1.1"), "400 bad-request-line"},
                   {with_line("GET / HTTP/1.1 "), "400 bad-request-line"},
                   {with_line("GET /a b HTTP/1.1"), "400 bad-version"},
                   {with_line("GET HTTP/1.1"), "400 bad-request-line"},
                   {with_line("GET"), "400 bad-request-line"},
                   {with_line("GET "), "400 bad-request-line"},
                   {with_line("GET / "), "400 bad-version"},
                   {with_line("GET /"), "400 bad-request-line"}});
}

TEST(RequestParserTest, ALoneLfOrCrAnywhereInTheHeadIsRefused) {
  expect_outcomes({{"GET\n", "400 lone-lf"},
                   {"GET /\n", "400 lone-lf"},
                   {"GET / HTTP/1.1\nHost: a\r\n\r\n", "400 lone-lf"},
                   {"GET / HTTP/1.1\rHost: a\r\n\r\n", "400 lone-cr"},
                   {"GET / HTTP/1.1\r\nHost: a\n\r\n", "400 lone-lf"},
                   {"GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n", "400 lone-cr"},
                   {"GET / HTTP/1.1\r\nHost\n", "400 lone-lf"},
                   {"GET / HTTP/1.1\r\nHost: a\r\n\n", "400 lone-lf"},
                   {"GET / HTTP/1.1\r\nHost: a\r\n\rx", "400 lone-cr"}});
}

TEST(RequestParserTest, ServesVersionOneOnly) {
  expect_outcomes({{with_line("GET / HTTP/1.0"), "complete"},
                   {with_line("GET / HTTP/1.9"), "complete"},
                   {with_line("GET / HTTP/2.0"), "505 version-not-supported"},
                   {with_line("GET / HTTP/9.9"), "505 version-not-supported"},
                   {with_line("GET / HTTP/0.9"), "505 version-not-supported"},
                   {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505 version-not-supported"},
                   {with_line("PRI * HTTP/1.1"), "400 bad-target-form"},
                   {with_line("GET / http/1.1"), "400 bad-version"},
                   {with_line("GET / HTTP/01.1"), "400 bad-version"},
                   {with_line("GET / HTTP/1"), "400 bad-version"},
                   {with_line("GET / HTTP/1.10"), "400 bad-version"},
                   {with_line("GET / HTTP/1,1"), "400 bad-version"},
                   {with_line("GET / ICE/1.0"), "400 bad-version"}});
  EXPECT_EQ(Read(with_line("GET / HTTP/1.7")).head().minor_version, 1);
  EXPECT_EQ(Read(with_line("GET / HTTP/1.0")).head().minor_version, 0);
}

TEST(RequestParserTest, AMethodIsATokenOfAtMost32Bytes) {
  expect_outcomes({{with_line("GET: / HTTP/1.1"), "400 bad-method"},
                   {with_line("G\0T / HTTP/1.1"s), "400 bad-method"},
                   {with_line("G\x80T / HTTP/1.1"), "400 bad-method"},
                   {with_line("get / HTTP/1.1"), "complete"},
                   {with_line("X_Y / HTTP/1.1"), "complete"},
                   {with_line(std::string(32, 'A') + " / HTTP/1.1"), "complete"},
                   {with_line(std::string(33, 'A') + " / HTTP/1.1"), "501 method-too-long"},
                   {std::string(33, 'A'), "501 method-too-long"},
                   {"\x16\x03\x01", "400 bad-method"}});
}

TEST(RequestParserTest, KnowsMethodsByCase) {
  const std::vector<std::pair<std::string, Method>> rows = {
      {"GET", Method::kGet},     {"HEAD", Method::kHead},     {"POST", Method::kPost},
      {"PUT", Method::kPut},     {"DELETE", Method::kDelete}, {"OPTIONS", Method::kOptions},
      {"PATCH", Method::kPatch}, {"TRACE", Method::kTrace},   {"CONNECT", Method::kConnect},
      {"get", Method::kOther},   {"QUERY", Method::kOther}};
  for (const auto& [name, id] : rows) EXPECT_EQ(Read(with_line(name + " / HTTP/1.1")).head().method_id, id) << name;
}

TEST(RequestParserTest, RefusesWhatATargetCannotHold) {
  for (int c = 0; c < 256; ++c) {
    const std::string path = "/a" + std::string(1, static_cast<char>(c)) + "b";
    const bool bad_in_query = c <= 0x20 || c >= 0x7F || c == '#';
    const bool bad_in_path = bad_in_query || c == '\\';
    EXPECT_EQ(Read(with_target(path)).state() == Parsed::kRejected, bad_in_path) << c;
    EXPECT_EQ(Read(with_target("/?x" + path)).state() == Parsed::kRejected, bad_in_query) << c;
  }
}

TEST(RequestParserTest, SplitsTargets) {
  struct Split {
    std::string target, path, query;
  };
  const std::vector<Split> rows = {{"/", "/", ""},
                                   {"/?", "/", "?"},
                                   {"//a//b?c?d", "//a//b", "?c?d"},
                                   {"/a;v=1/%2F?x=%zz&&[]|\\", "/a;v=1/%2F", "?x=%zz&&[]|\\"},
                                   {"http://a", "/", ""},
                                   {"http://a?x", "/", "?x"},
                                   {"HTTPS://A/b?c", "/b", "?c"}};
  for (const Split& row : rows) {
    const Read read(with_target(row.target));
    ASSERT_EQ(read.outcome(), "complete") << row.target;
    EXPECT_EQ(read.head().path, row.path) << row.target;
    EXPECT_EQ(read.head().query, row.query) << row.target;
    EXPECT_EQ(read.head().target, row.target);
    EXPECT_EQ(read.head().absolute_form, row.target.front() != '/');
  }
}

TEST(RequestParserTest, RefusesTargetsOfNoAllowedForm) {
  expect_outcomes({{with_target("*"), "400 bad-target-form"},
                   {with_target("a:80"), "400 bad-target-form"},
                   {with_target("foo/bar"), "400 bad-target-form"},
                   {with_target("?x"), "400 bad-target-form"},
                   {with_target("ftp://a/"), "400 bad-target-form"},
                   {with_target("http:///x"), "400 bad-target-form"},
                   {with_target("http://"), "400 bad-target-form"},
                   {with_target("http://a:x/"), "400 bad-target-form"},
                   {with_target("http://u:p@a/"), "400 userinfo-in-target"},
                   {with_target("http://b/"), "400 host-mismatch"},
                   {with_line("OPTIONS *?x HTTP/1.1"), "400 bad-target-form"},
                   {with_line("OPTIONS * HTTP/1.1"), "complete"},
                   {with_line("CONNECT a:443 HTTP/1.1"), "complete"},
                   {with_line("CONNECT a:443\\ HTTP/1.1"), "400 bad-target"},
                   {with_line("TRACE / HTTP/1.1"), "complete"}});
  EXPECT_EQ(Read(with_line("OPTIONS * HTTP/1.1")).head().path, "*");
}

TEST(RequestParserTest, TheTargetsAuthorityCanWin) {
  const RequestRules rules{.target_authority_wins = true};
  EXPECT_EQ(Read(with_target("http://b:81/"), rules).head().host, "b:81");
  EXPECT_EQ(Read(with_target("/"), rules).head().host, "a");
  EXPECT_EQ(Read("GET http://b/ HTTP/1.0\r\n\r\n").head().host, "b");
}

TEST(RequestParserTest, AHostIsANameWithAnOptionalPort) {
  for (const char* host : {"a", "A.b-c_d.", "name:8080", "a:1", "a:65535", "127.0.0.1", "[::1]", "[::1]:80"}) {
    EXPECT_EQ(Read(with_host(host)).outcome(), "complete") << host;
    EXPECT_EQ(Read(with_host(host)).head().host, host);
  }
  for (const char* host :
       {"",    " ",    "a,b", "a/b",        "u@a",    "a b", "a:",    "a:0",  "a:65536", "a:123456", "a:x",
        ":80", "[::1", "[]",  "[::1%eth0]", "[::1]x", "[g]", "a\x80", "a%41", "a;b",     "a:80:80"}) {
    EXPECT_EQ(Read(with_host(host)).outcome(), "400 bad-host") << host;
  }
}

TEST(RequestParserTest, Http11NeedsAHostAndHttp10DoesNot) {
  expect_outcomes({{"GET / HTTP/1.1\r\n\r\n", "400 no-host"},
                   {"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", "400 repeated-field"},
                   {"GET http://a/ HTTP/1.1\r\n\r\n", "400 no-host"},
                   {"GET / HTTP/1.0\r\n\r\n", "complete"}});
  EXPECT_EQ(Read("GET / HTTP/1.0\r\n\r\n").head().host, "");
}

TEST(RequestParserTest, AFieldNameIsATokenWithAColonBehindIt) {
  for (int c = 0; c < 256; ++c) {
    const std::string name = "X" + std::string(1, static_cast<char>(c)) + "Y";
    const bool colon = c == ':';
    const bool token = std::isalnum(c) != 0 || (c != 0 && c < 0x80 && std::strchr("!#$%&'*+-.^`|~", c) != nullptr);
    EXPECT_EQ(Read(with_fields(name + ": v\r\n")).state() == Parsed::kComplete, token || colon) << c;
  }
  expect_outcomes({{with_fields(": v\r\n"), "400 bad-field-name"},
                   {with_fields("X : v\r\n"), "400 bad-field-name"},
                   {with_fields("X\r\n"), "400 no-colon"},
                   {with_fields("X_Y: v\r\n"), "400 underscore-in-name"},
                   {with_fields(" X: v\r\n"), "400 folded-line"},
                   {with_fields("X: v\r\n\tw\r\n"), "400 folded-line"},
                   {"GET / HTTP/1.1\r\n Host: a\r\n\r\n", "400 folded-line"}});
}

TEST(RequestParserTest, AFieldValueHoldsNoControlBytesButTab) {
  for (int c = 0; c < 256; ++c) {
    const std::string line = "X: a" + std::string(1, static_cast<char>(c)) + "b\r\n";
    const bool good = c == '\t' || (c >= 0x20 && c != 0x7F);
    EXPECT_EQ(Read(with_fields(line)).state() == Parsed::kComplete, good) << c;
    // The same beyond the first 16 bytes.
    EXPECT_EQ(Read(with_fields("X: 0123456789abcdef" + line.substr(3))).state() == Parsed::kComplete, good) << c;
  }
}

TEST(RequestParserTest, SpaceAndTabAroundAValueAreNotPartOfIt) {
  const Read read(with_fields("A: \t \r\nB:x\r\nC:\t a b\t\r\nD:\r\n"));
  ASSERT_EQ(read.outcome(), "complete");
  const RequestHead& head = read.head();
  EXPECT_EQ(head.value(head.fields[1]), "");
  EXPECT_EQ(head.value(head.fields[2]), "x");
  EXPECT_EQ(head.value(head.fields[3]), "a b");
  EXPECT_EQ(head.value(head.fields[4]), "");
}

TEST(RequestParserTest, UnderscoresCanBeLeftOut) {
  const RequestRules rules{.drop_underscores = true};
  const Read read(with_fields("X_Partner: a\r\nTransfer_Encoding: chunked\r\nX-B: b\r\n"), rules);
  ASSERT_EQ(read.outcome(), "complete");
  ASSERT_EQ(read.head().fields.size(), 2U);
  EXPECT_EQ(read.head().fields[1].name(read.head().bytes), "X-B");
  EXPECT_EQ(read.head().body.kind, BodyKind::kNone);
}

TEST(RequestParserTest, FieldsThatDecideSomethingComeOnce) {
  for (const char* line :
       {"Authorization: a\r\n", "Content-Type: a\r\n", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n"}) {
    EXPECT_EQ(Read(with_fields(line)).outcome(), "complete") << line;
    EXPECT_EQ(Read(with_fields(std::string(line) + "x: y\r\n" + line)).outcome(), "400 repeated-field") << line;
  }
  EXPECT_EQ(Read(with_fields("Cookie: a\r\nCookie: b\r\nVia: a\r\nVia: b\r\n")).outcome(), "complete");
}

TEST(RequestParserTest, ALimitPassesAndOneMoreFails) {
  const RequestRules rules{.max_target = 40, .max_head = 200, .max_fields = 3};
  expect_outcomes({{with_target("/" + std::string(39, 'a')), "complete"},
                   {with_target("/" + std::string(40, 'a')), "414 target-too-long"},
                   {with_target("/?" + std::string(38, 'a')), "complete"},
                   {with_target("/?" + std::string(39, 'a')), "414 target-too-long"},
                   {"GET /" + std::string(39, 'a'), "incomplete"},
                   {"GET /" + std::string(40, 'a'), "414 target-too-long"},
                   {with_fields("A:\r\nB:\r\n"), "complete"},
                   {with_fields("A:\r\nB:\r\nC"), "431 too-many-fields"}},
                  rules);
  const std::string start = "POST / HTTP/1.1\r\nHost: a\r\nA: "s;
  const std::string full = start + std::string(200 - start.size() - 4, 'x') + "\r\n\r\n";
  ASSERT_EQ(full.size(), 200U);
  expect_outcomes({{full, "complete"},
                   {start + "x" + full.substr(start.size()), "431 head-too-large"},
                   {start + std::string(200 - start.size(), 'x'), "incomplete"},
                   {start + std::string(201 - start.size(), 'x'), "431 head-too-large"}},
                  rules);
}

TEST(RequestParserTest, LargeHeadsWithinTheLimitsAreServed) {
  std::string fields = "Cookie: " + std::string(12 * 1024, 'c') + "\r\n";
  for (int i = 0; i < 88; ++i) fields += "X-" + std::to_string(i) + ": v\r\n";
  EXPECT_EQ(Read(with_fields(fields)).outcome(), "complete");
  EXPECT_EQ(Read(with_target("/" + std::string(7899, 'p'))).outcome(), "complete");
}

TEST(RequestParserTest, ANameTooLongForAFieldIsTooLarge) {
  const RequestRules rules{.max_head = 1 << 20};
  EXPECT_EQ(Read(with_fields(std::string(65535, 'n') + ": v\r\n"), rules).outcome(), "complete");
  EXPECT_EQ(Read(with_fields(std::string(65536, 'n') + ": v\r\n"), rules).outcome(), "431 head-too-large");
}

TEST(RequestParserTest, AContentLengthIsAPlainNumber) {
  struct Length {
    std::string value;
    std::uint64_t length;
  };
  for (const Length& row : {Length{"0", 0}, Length{"5", 5}, Length{"9223372036854775807", 9223372036854775807U}}) {
    const Read read(with_fields("Content-Length: " + row.value + "\r\n"));
    ASSERT_EQ(read.outcome(), "complete") << row.value;
    EXPECT_EQ(read.head().body.kind, BodyKind::kLength);
    EXPECT_EQ(read.head().body.length, row.length);
  }
  for (const char* value : {"", "+5", "-0", "-1", "0x5", "0o5", "1_0", "1 0", "5x", "5, 5", "5, 10", "5,", "005",
                            "00", "9223372036854775808", "18446744073709551616", "99999999999999999999"}) {
    EXPECT_EQ(Read(with_fields("Content-Length: " + std::string(value) + "\r\n")).outcome(), "400 bad-content-length")
        << value;
  }
}

TEST(RequestParserTest, TransferEncodingIsChunkedAlone) {
  for (const char* value : {"chunked", "Chunked", "CHUNKED", " \tchunked \t"}) {
    const Read read(with_fields("Transfer-Encoding:" + std::string(value) + "\r\n"));
    ASSERT_EQ(read.outcome(), "complete") << value;
    EXPECT_EQ(read.head().body.kind, BodyKind::kChunked);
  }
  for (const char* value :
       {"", "xchunked", "chunked, chunked", ", chunked", "chunked,", "chunked;a=b", "\"chunked\"", "'chunked'",
        "chunked\x80",
        "\xA0"
        "chunked",
        "chunked gzip", "gzip,", "chunke", "gzip,,chunked", "chunked, gzip, chunked", "chunked, gzip"}) {
    EXPECT_EQ(Read(with_fields("Transfer-Encoding: " + std::string(value) + "\r\n")).outcome(),
              "400 bad-transfer-encoding")
        << value;
  }
  for (const char* value : {"gzip, chunked", "gzip", "identity", "deflate , Chunked"}) {
    EXPECT_EQ(Read(with_fields("Transfer-Encoding: " + std::string(value) + "\r\n")).outcome(),
              "501 transfer-coding-not-supported")
        << value;
  }
}

TEST(RequestParserTest, NoByteBesideTransferEncodingIsOverlooked) {
  for (int c = 0; c < 256; ++c) {
    if (c > 0x20 && c < 0x7F) continue;
    const std::string odd(1, static_cast<char>(c));
    const bool is_space = c == ' ' || c == '\t';
    for (const char* other : {"", "Content-Length: 3\r\n"}) {
      EXPECT_NE(Read(with_fields(other + odd + "Transfer-Encoding: chunked\r\n")).outcome(), "complete") << c;
      EXPECT_NE(Read(with_fields(other + ("Transfer-Encoding" + odd) + ": chunked\r\n")).outcome(), "complete") << c;
      for (const std::string& value : {odd + "chunked", "chunked" + odd}) {
        const bool good = is_space && *other == '\0';
        const Read read(with_fields(std::string(other) + "Transfer-Encoding: " + value + "\r\n"));
        EXPECT_EQ(read.outcome() == "complete", good) << c;
      }
    }
  }
}

TEST(RequestParserTest, ABodyHasOneLength) {
  expect_outcomes({{with_fields("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), "400 two-body-lengths"},
                   {with_fields("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), "400 two-body-lengths"},
                   {with_fields("Content-Length: 0\r\nTransfer-Encoding: x\r\n"), "400 two-body-lengths"},
                   {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", "400 transfer-encoding-in-http10"}});
  EXPECT_EQ(Read(with_fields("")).head().body.kind, BodyKind::kNone);
}

TEST(RequestParserTest, VersionAndConnectionDecideWhatFollows) {
  struct Kept {
    std::string version, value;
    bool keep_alive, names_fields, asks_upgrade;
  };
  const std::vector<Kept> rows = {{"1.1", "", true, false, false},
                                  {"1.1", "close", false, false, false},
                                  {"1.1", "Keep-Alive, CLOSE", false, false, false},
                                  {"1.1", ", x-a ,,", true, true, false},
                                  {"1.1", "upgrade", true, false, true},
                                  {"1.0", "", false, false, false},
                                  {"1.0", "keep-alive", true, false, false},
                                  {"1.0", "close, keep-alive", false, false, false}};
  for (const Kept& row : rows) {
    const Read read("GET / HTTP/" + row.version + "\r\nHost: a\r\nConnection: " + row.value + "\r\n\r\n");
    ASSERT_EQ(read.outcome(), "complete");
    EXPECT_EQ(read.head().keep_alive, row.keep_alive) << row.version << row.value;
    EXPECT_EQ(read.head().names_fields, row.names_fields) << row.value;
    EXPECT_EQ(read.head().asks_upgrade, row.asks_upgrade) << row.value;
  }
}

TEST(RequestParserTest, SeveralConnectionLinesCountTogether) {
  const Read read(with_fields("Connection: keep-alive\r\nConnection: close\r\nConnection: x\r\n"));
  EXPECT_FALSE(read.head().keep_alive);
  EXPECT_TRUE(read.head().names_fields);
}

TEST(RequestParserTest, OnlyContinueCanBeExpected) {
  EXPECT_TRUE(Read(with_fields("Expect: 100-Continue\r\n")).head().expects_continue);
  EXPECT_EQ(Read(with_fields("Expect: 200-ok\r\n")).outcome(), "417 expectation-failed");
  EXPECT_EQ(Read(with_fields("Expect:\r\n")).outcome(), "417 expectation-failed");
  const Read old("POST / HTTP/1.0\r\nExpect: x\r\n\r\n");
  EXPECT_EQ(old.outcome(), "complete");
  EXPECT_FALSE(old.head().expects_continue);
}

TEST(RequestParserTest, FieldsAreFoundByIdAndByName) {
  const Read read(with_fields("X-A: 1\r\nx-a: 2\r\nCOOKIE: c\r\n"));
  const RequestHead& head = read.head();
  EXPECT_TRUE(head.has(FieldId::kCookie));
  EXPECT_EQ(head.value(*head.find(FieldId::kCookie)), "c");
  EXPECT_EQ(head.value(*head.find("X-a")), "1");
  EXPECT_EQ(head.value(*head.find("cookie")), "c");
  EXPECT_EQ(head.find(FieldId::kDate), nullptr);
  EXPECT_EQ(head.find("x-b"), nullptr);
}

TEST(RequestParserTest, AHeadCanMove) {
  for (const char* target : {"/p?q", "http://a", "http://a?q"}) {
    const PaddedBytes first(with_target(target));
    RequestParser parser{RequestRules{}};
    ASSERT_EQ(parser.parse(first.view()), Parsed::kComplete);
    const std::string before = describe(parser.head());
    const PaddedBytes second(first.view());
    parser.head().rebase(second.view());
    EXPECT_EQ(describe(parser.head()), before);
    EXPECT_EQ(parser.head().method.data(), second.view().data());
  }
}

TEST(RequestParserTest, AParserReadsManyMessages) {
  const PaddedBytes bytes(with_fields("Content-Length: 3\r\nConnection: close\r\nExpect: 100-continue\r\n"));
  const PaddedBytes plain("GET / HTTP/1.0\r\n\r\n");
  RequestParser parser{RequestRules{}};
  for (int i = 0; i < 3; ++i) {
    parser.reset();
    ASSERT_EQ(parser.parse(bytes.view()), Parsed::kComplete);
    parser.reset();
    ASSERT_EQ(parser.parse(plain.view()), Parsed::kComplete);
    EXPECT_EQ(describe(parser.head()),
              "GET|/|/|||00000"
              "0:0");
  }
}

TEST(RequestParserTest, ARejectionStands) {
  const PaddedBytes bytes("GET\n");
  RequestParser parser{RequestRules{}};
  EXPECT_EQ(parser.parse(bytes.view()), Parsed::kRejected);
  EXPECT_EQ(parser.parse(bytes.view()), Parsed::kRejected);
  EXPECT_EQ(parser.rejection().code, "lone-lf");
}

}  // namespace
}  // namespace weir::http
