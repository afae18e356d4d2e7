// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/forward.h"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>

#include "weir/http/parser.h"

namespace weir::gateway {
namespace {

const decide::Decision kNoDecision;

template <class Parser>
void parse(Parser& parser, std::string& text) {
  const std::size_t size = text.size();
  text.append(32, '\0');  // the parser may look at bytes behind its input
  if (parser.parse(std::string_view(text).substr(0, size)) != http::Parsed::kComplete) {
    throw std::invalid_argument(std::string(parser.rejection().code));
  }
}

struct Settings {
  std::vector<IpNetwork> trusted{};
  bool preserve_host = true;
  bool keep_request_id = false;
  std::string_view trace_parent{};
};

// The head that the upstream gets for a client's head, lines ended by line feeds only.
std::string upstream_gets(std::string client, const Settings& settings = {}) {
  config::Config config;
  config.trusted_proxies = settings.trusted;
  config.callers.push_back(config::HeaderCaller{"X-User-Id", "user", config::TrustedFrom::kAnyone});
  const identity::Identifier identifier(config);
  const identity::Peer peer = identifier.peer(IpAddress::parse("192.0.2.7"));
  http::RequestParser parser{http::RequestRules{}};
  parse(parser, client);
  Text out;
  write_request_head(out, parser.head(),
                     {.identifier = identifier,
                      .peer = peer,
                      .preserve_host = settings.preserve_host,
                      .upstream_authority = "upstream.internal:81",
                      .request_id = "id-1",
                      .keep_request_id = settings.keep_request_id,
                      .trace_parent = settings.trace_parent});
  std::string text(out.view());
  std::erase(text, '\r');
  return text;
}

constexpr std::string_view kAdded =
    "X-Forwarded-For: 192.0.2.7\nX-Forwarded-Proto: http\nX-Forwarded-Host: a.example\nX-Request-Id: id-1\n"
    "Via: 1.1 weir\n";

std::string request(std::string_view lines) {
  return "GET /p?q HTTP/1.1\r\nHost: a.example\r\n" + std::string(lines) + "\r\n";
}

// What of the client's lines reaches the upstream.
std::string kept(std::string_view lines, const Settings& settings = {}) {
  std::string got = upstream_gets(request(lines), settings);
  const std::string start = "GET /p?q HTTP/1.1\nHost: a.example\n";
  const std::string end = std::string(kAdded) + "\n";
  if (!got.starts_with(start) || !got.ends_with(end)) return "unexpected: " + got;
  return got.substr(start.size(), got.size() - start.size() - end.size());
}

TEST(RequestHeadTest, LinesKeepTheirOrderSpellingAndRepetitions) {
  EXPECT_EQ(kept("accept:  */*  \r\nX-b: 1\r\nACCEPT: text/html\r\nx-B:\r\nCookie: a=1\r\nCookie: b=2\r\n"),
            "accept:  */*  \nX-b: 1\nACCEPT: text/html\nx-B:\nCookie: a=1\nCookie: b=2\n");
}

TEST(RequestHeadTest, FieldsOfOneHopGo) {
  EXPECT_EQ(
      kept("Connection: keep-alive, X-Mine\r\nKeep-Alive: 5\r\nProxy-Connection: x\r\nX-Mine: 1\r\nTE: trailers\r\n"
           "Trailer: X-T\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\nProxy-Authorization: Basic x\r\nX-Other: 2\r\n"),
      "X-Other: 2\n");
}

// Or a client could take away what says who it is.
TEST(RequestHeadTest, AnIdentityFieldCannotBeNamedAway) {
  EXPECT_EQ(kept("Connection: X-User-Id, X-Mine\r\nX-User-Id: u\r\nX-Mine: 1\r\n"), "X-User-Id: u\n");
}

TEST(RequestHeadTest, ClaimsAboutTheClientAreBelievedOfTrustedProxiesOnly) {
  constexpr std::string_view kClaims =
      "X-Forwarded-For: 203.0.113.1, 198.51.100.2\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: b.example\r\n"
      "X-Real-IP: 203.0.113.1\r\nForwarded: for=1.2.3.4\r\n";
  EXPECT_EQ(kept(kClaims), "");
  const std::string got = upstream_gets(request(kClaims), {.trusted = {*IpNetwork::parse("192.0.2.0/24")}});
  EXPECT_EQ(got,
            "GET /p?q HTTP/1.1\nHost: a.example\nX-Forwarded-Proto: https\nX-Forwarded-Host: b.example\n"
            "X-Real-IP: 203.0.113.1\nX-Forwarded-For: 203.0.113.1, 198.51.100.2, 192.0.2.7\nX-Request-Id: id-1\n"
            "Via: 1.1 weir\n\n");
}

TEST(RequestHeadTest, FramingIsWrittenAnew) {
  const auto framing = [](std::string_view start, std::string_view lines) {
    const std::string got =
        upstream_gets(std::string(start) + " / HTTP/1.1\r\nHost: a.example\r\n" + std::string(lines) + "\r\n");
    const std::size_t at = got.find("Via: 1.1 weir\n") + 14;
    return got.substr(at, got.size() - at - 1);
  };
  EXPECT_EQ(framing("POST", "content-length: 7\r\n"), "Content-Length: 7\n");
  EXPECT_EQ(framing("POST", "Transfer-Encoding: Chunked\r\n"), "Transfer-Encoding: chunked\n");
  EXPECT_EQ(framing("POST", ""), "Content-Length: 0\n");
  EXPECT_EQ(framing("GET", ""), "");
  EXPECT_EQ(framing("GET", "Content-Length: 0\r\n"), "Content-Length: 0\n");
}

TEST(RequestHeadTest, HostIsTheClientsOrTheUpstreams) {
  EXPECT_TRUE(upstream_gets(request(""), {.preserve_host = false})
                  .starts_with("GET /p?q HTTP/1.1\nHost: upstream.internal:81\n"));
  EXPECT_TRUE(upstream_gets("GET http://a.example/x HTTP/1.1\r\nHost: a.example\r\n\r\n")
                  .starts_with("GET /x HTTP/1.1\nHost: a.example\n"));
  EXPECT_TRUE(upstream_gets("GET / HTTP/1.0\r\n\r\n").starts_with("GET / HTTP/1.1\nHost: upstream.internal:81\n"));
  EXPECT_NE(upstream_gets("GET / HTTP/1.0\r\n\r\n").find("Via: 1.0 weir\n"), std::string::npos);
}

TEST(RequestHeadTest, ATraceIsReplacedWithItsState) {
  constexpr std::string_view kNew = "00-000000000000000000000000000000ab-00000000000000cd-00";
  EXPECT_EQ(trace_parent({.low = 0xab, .high = 0}, 0xcd), kNew);
  const std::string got = upstream_gets(request("traceparent: x\r\nTraceState: a=b\r\n"), {.trace_parent = kNew});
  EXPECT_NE(got.find("traceparent: " + std::string(kNew) + "\n"), std::string::npos) << got;
  EXPECT_EQ(got.find("TraceState"), std::string::npos) << got;
}

TEST(RequestHeadTest, OnlyMoreVisitsThanAnyPathNeedsAreALoop) {
  const auto is_loop = [](const std::string& via) {
    http::RequestParser parser{http::RequestRules{}};
    std::string text = request(via.empty() ? "" : "Via: " + via + "\r\n");
    parse(parser, text);
    return loops(parser.head());
  };
  EXPECT_FALSE(is_loop(""));
  EXPECT_FALSE(is_loop("1.1 weir"));
  EXPECT_FALSE(is_loop("1.1 weir.example, 1.1 other, 1.1 weirdo"));
  std::string many = "1.1 weir";
  int visits = 1;
  for (; visits < 100 && !is_loop(many); ++visits) many += ", 1.0 weir (comment)";
  EXPECT_GT(visits, 2);
  EXPECT_LT(visits, 100);
}

std::string client_gets(std::string upstream, ClientFraming framing,
                        const AnswerContext& context = {.date = "now", .wall = {}, .request_id = "id-1"}) {
  http::ResponseParser parser;
  parser.reset(/*to_head=*/false);
  parse(parser, upstream);
  Text out;
  append_response_head(out, parser.head(), framing, kNoDecision, RateLimitFields({}, {}), context);
  std::string text(out.view());
  std::erase(text, '\r');
  return text;
}

TEST(ResponseHeadTest, TheStatusLineKeepsItsReasonUnderOurVersion) {
  EXPECT_EQ(client_gets("HTTP/1.0 299 Fine by me\r\nDate: d\r\n\r\n", ClientFraming::kNone),
            "HTTP/1.1 299 Fine by me\nDate: d\nX-Request-Id: id-1\n\n");
  EXPECT_TRUE(client_gets("HTTP/1.1 200\r\n\r\n", ClientFraming::kNone).starts_with("HTTP/1.1 200 \n"));
}

TEST(ResponseHeadTest, LinesPassAndHopByHopFieldsGo) {
  EXPECT_EQ(client_gets("HTTP/1.1 200 OK\r\nset-cookie: a\r\nSet-Cookie: b\r\nConnection: X-Mine\r\nX-Mine: 1\r\n"
                        "X-Request-Id: theirs\r\nServer: s\r\nTransfer-Encoding: chunked\r\n\r\n",
                        ClientFraming::kChunked),
            "HTTP/1.1 200 OK\nset-cookie: a\nSet-Cookie: b\nServer: s\nDate: now\nX-Request-Id: id-1\n"
            "Transfer-Encoding: chunked\n\n");
}

TEST(ResponseHeadTest, TheConnectionsFateIsSaidWhereItIsNotTheDefault) {
  const auto line = [](bool keep_alive, std::uint8_t version) {
    const std::string got = client_gets(
        "HTTP/1.1 204 No Content\r\nDate: d\r\n\r\n", ClientFraming::kNone,
        {.date = "now", .wall = {}, .request_id = "i", .keep_alive = keep_alive, .minor_version = version});
    const std::size_t at = got.find("Connection");
    return at == std::string::npos ? "" : got.substr(at, got.size() - at - 2);
  };
  EXPECT_EQ(line(true, 1), "");
  EXPECT_EQ(line(false, 1), "Connection: close");
  EXPECT_EQ(line(true, 0), "Connection: keep-alive");
  EXPECT_EQ(line(false, 0), "Connection: close");
}

TEST(ResponseHeadTest, ALengthIsToldOnlyWhereItMeansSomething) {
  constexpr std::string_view kLength = "Content-Length: 5";
  EXPECT_NE(client_gets("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", ClientFraming::kNone).find(kLength),
            std::string::npos);
  EXPECT_EQ(client_gets("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", ClientFraming::kNone).find(kLength),
            std::string::npos);
  EXPECT_NE(client_gets("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", ClientFraming::kLength).find(kLength),
            std::string::npos);
}

TEST(ClientFramingTest, FollowsTheBodyAndTheClientsVersion) {
  const auto framing = [](http::BodyKind kind, std::uint8_t version) {
    http::ResponseHead head;
    head.body.kind = kind;
    return client_framing(head, version);
  };
  for (const std::uint8_t version : {0, 1}) {
    EXPECT_EQ(framing(http::BodyKind::kNone, version), ClientFraming::kNone);
    EXPECT_EQ(framing(http::BodyKind::kLength, version), ClientFraming::kLength);
    EXPECT_EQ(framing(http::BodyKind::kChunked, version),
              version == 0 ? ClientFraming::kUntilClose : ClientFraming::kChunked);
    EXPECT_EQ(framing(http::BodyKind::kUntilClose, version),
              version == 0 ? ClientFraming::kUntilClose : ClientFraming::kChunked);
  }
}

TEST(RequestIdTest, AllowsWhatIsSafeInEveryLog) {
  EXPECT_TRUE(is_valid_request_id("a"));
  EXPECT_TRUE(is_valid_request_id("Az09._-"));
  EXPECT_TRUE(is_valid_request_id(std::string(128, 'x')));
  for (const std::string& bad :
       {std::string(), std::string(129, 'x'), std::string("a b"), std::string("a\"b"), std::string("\xc3\xa9")}) {
    EXPECT_FALSE(is_valid_request_id(bad)) << bad;
  }
}

}  // namespace
}  // namespace weir::gateway
