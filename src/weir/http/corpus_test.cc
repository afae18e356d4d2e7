// SPDX-License-Identifier: Apache-2.0
//
// Public cases of other parsers' test suites, judged by parser and decoder alone. What only a whole gateway can judge
// is listed with its reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "weir/http/base64.h"
#include "weir/http/corpora_for_tests.h"
#include "weir/http/exchange_for_tests.h"

namespace weir::http {
namespace {

using nlohmann::json;

const std::filesystem::path kCorpora = corpora_beside(WEIR_SOURCE_DIR);

class CorpusTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kCorpora)) GTEST_SKIP() << "no corpora at " << kCorpora;
  }
};

json h1_cases() { return json::parse(read_file(kCorpora / "h1-cases.json")).at("cases"); }

std::string payload_of(const json& test_case) {
  std::string bytes;
  for (const auto& step : test_case["payload_base64"]) bytes += decode_base64(step.get<std::string>()).value();
  return bytes;
}

// Refused by the gateway, not by the parser.
bool is_judged_later(const json& test_case) {
  const std::string note = test_case["note"];
  for (const char* reason : {"CONNECT", "TRACE"}) {
    if (note.find(reason) != std::string::npos) return true;
  }
  return false;
}

TEST_F(CorpusTest, WhatMustBeRefusedIsNeverReadAsAWholeRequest) {
  int seen = 0;
  for (const auto& test_case : h1_cases()) {
    if (test_case["category"] == "response" || !test_case["must_refuse"].get<bool>()) continue;
    if (is_judged_later(test_case)) continue;
    ++seen;
    EXPECT_EQ(play(payload_of(test_case)).whole, 0U) << test_case["id"] << " " << test_case["note"];
  }
  EXPECT_GT(seen, 150);
}

TEST_F(CorpusTest, NeitherMoreNorFewerRequestsAreReadThanAreThere) {
  int seen = 0;
  for (const auto& test_case : h1_cases()) {
    if (test_case["category"] == "response" || is_judged_later(test_case)) continue;
    ++seen;
    const Exchange exchange = play(payload_of(test_case));
    EXPECT_LE(exchange.whole, test_case.value("max_accepted", 1000U)) << test_case["id"] << " " << test_case["note"];
    EXPECT_GE(exchange.whole, test_case.value("min_accepted", 0U))
        << test_case["id"] << " " << test_case["note"] << exchange.text;
  }
  EXPECT_GT(seen, 300);
}

TEST_F(CorpusTest, CutAnywhereEveryCaseReadsTheSame) {
  for (const auto& test_case : h1_cases()) {
    const std::string bytes = payload_of(test_case);
    const Exchange whole = play(bytes);
    const std::vector<std::size_t> steps =
        bytes.size() > 4000 ? std::vector<std::size_t>{997} : std::vector<std::size_t>{1, 2, 3, 5, 17};
    for (std::size_t step : steps) {
      const Exchange cut = play(bytes, step);
      ASSERT_EQ(cut.text, whole.text) << test_case["id"] << " " << step;
      ASSERT_EQ(cut.end, whole.end) << test_case["id"] << " " << step;
    }
  }
}

// What a client would get of an answer to GET.
Exchange play_answer(std::string_view input) {
  Exchange exchange;
  const PaddedBytes bytes(input);
  ResponseParser parser;
  parser.reset(false);
  exchange.end = parser.parse(bytes.view());
  if (exchange.end == Parsed::kRejected) exchange.text = parser.rejection().code;
  if (exchange.end != Parsed::kComplete) return exchange;
  const BodyRead body = read_body(parser.head().body, input.substr(parser.consumed()));
  exchange.end = body.state;
  exchange.text = body.code;
  if (body.state == Parsed::kComplete && parser.head().status >= 200) ++exchange.whole;
  return exchange;
}

TEST_F(CorpusTest, BrokenAnswersAreNeverWholeAndGoodOnesAre) {
  int seen = 0;
  for (const auto& test_case : h1_cases()) {
    if (test_case["category"] != "response") continue;
    ++seen;
    const Exchange exchange = play_answer(payload_of(test_case));
    const bool bad = test_case["must_refuse"].get<bool>();
    const auto& allowed = test_case["expected_statuses"];
    // An answer may be passed or refused where both 200 and 502 are right.
    if (!bad && std::find(allowed.begin(), allowed.end(), 502) != allowed.end()) continue;
    EXPECT_EQ(exchange.whole == 0, bad) << test_case["id"] << " " << test_case["note"] << " " << exchange.text;
  }
  EXPECT_GT(seen, 50);
}

// Removes backslash + line end, writes every other line end as CRLF.
std::string decode_llhttp(std::string_view source) {
  std::string text;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\\' && i + 1 < source.size() && source[i + 1] == '\n') {
      ++i;
    } else if (source[i] == '\n') {
      text += "\\r\\n";
    } else {
      text += source[i];
    }
  }
  return unescape(text);
}

TEST_F(CorpusTest, WhatAStrictParserRefusesIsRefusedHereToo) {
  int seen = 0;
  for (const auto& test_case : json::parse(read_file(kCorpora / "llhttp-corpus.json"))) {
    if (test_case["kind"] != "http" || !test_case["meta"].contains("type")) continue;
    const std::string type = test_case["meta"]["type"];
    const std::string log = test_case["log"];
    if (log.find("error code=") == log.npos || (type != "request" && type != "response")) continue;
    // Bytes behind a message that ends the connection are thrown away here; the message itself is good.
    if (log.find("Data after") != log.npos || log.find("Pause") != log.npos) continue;
    // Unknown methods are forwarded.
    if (log.find("Invalid method for HTTP/x.x") != log.npos) continue;
    ++seen;
    const std::string bytes = decode_llhttp(test_case["src"].get<std::string>());
    const Exchange exchange = type == "request" ? play(bytes) : play_answer(bytes);
    EXPECT_NE(exchange.end, Parsed::kComplete) << test_case["case_id"] << " " << log.substr(log.find("error code="));
  }
  EXPECT_GT(seen, 40);
}

TEST_F(CorpusTest, WhatOnlyALenientParserTakesIsRefused) {
  for (const auto& test_case : json::parse(read_file(kCorpora / "llhttp-corpus.json"))) {
    if (!test_case["meta"].is_object()) continue;
    const std::string type = test_case["meta"].value("type", "");
    if (type.find("lenient") == type.npos) continue;
    // Lenient about what follows a good message that ends the connection.
    if (type.find("keep-alive") != type.npos || type.find("data-after-close") != type.npos) continue;
    const std::string bytes = decode_llhttp(test_case["src"].get<std::string>());
    const Exchange exchange = type.starts_with("request") ? play(bytes) : play_answer(bytes);
    EXPECT_EQ(exchange.whole, 0U) << test_case["case_id"] << " " << type << " " << test_case["name"];
  }
}

std::string decode_gunicorn(std::string_view source) {
  std::string text;
  for (char c : source) {
    if (c != '\n' && c != '\r') text += c;
  }
  return unescape(text);
}

TEST_F(CorpusTest, WhatAnotherServerRefusesIsRefusedHereToo) {
  // Refused there by limits that are smaller than ours; these are good requests. And trailers that may not decide
  // anything are dropped here, whatever their names.
  const std::set<std::string> good = {"007",
                                      "008",
                                      "009",
                                      "010",
                                      "011",
                                      "012",
                                      "017",
                                      "limit_header_default_01",
                                      "rfc9110_trailer_forbidden_te_01",
                                      "rfc9110_trailer_forbidden_cl_01",
                                      "rfc9110_trailer_forbidden_host_01"};
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kCorpora / "gunicorn-invalid")) {
    if (entry.path().extension() != ".http" || good.contains(entry.path().stem().string())) continue;
    ++seen;
    EXPECT_EQ(play(decode_gunicorn(read_file(entry.path()))).whole, 0U) << entry.path();
  }
  EXPECT_GT(seen, 40);
}

}  // namespace
}  // namespace weir::http
