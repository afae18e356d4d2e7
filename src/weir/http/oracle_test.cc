// SPDX-License-Identifier: Apache-2.0
//
// Boost.Beast's parser as a second opinion: what is accepted here means the same to it.
#include <gtest/gtest.h>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http.hpp>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "weir/http/base64.h"
#include "weir/http/corpora_for_tests.h"
#include "weir/http/exchange_for_tests.h"
#include "weir/http/message_generator.h"

namespace weir::http {
namespace {

using nlohmann::json;

const std::filesystem::path kCorpora = corpora_beside(WEIR_SOURCE_DIR);

namespace beast = boost::beast::http;

struct Reading {
  std::string method, target, body;
  std::vector<std::string> fields;  // "name=value"; those of the head first
  std::size_t consumed = 0;
  std::string error;
};

Reading read_by_beast(std::string_view input) {
  beast::request_parser<beast::string_body> parser;
  parser.eager(false);
  parser.header_limit(1 << 20);
  parser.body_limit(std::numeric_limits<std::uint64_t>::max());
  boost::system::error_code error;
  Reading reading;
  const auto& message = parser.get();
  while (!parser.is_done() && !error) {
    const auto used =
        parser.put(boost::asio::buffer(input.data() + reading.consumed, input.size() - reading.consumed), error);
    reading.consumed += used;
    // Now, because Beast puts trailers behind the fields of the head; here they are dropped.
    if (parser.is_header_done() && reading.fields.empty()) {
      for (const auto& field : message) {
        reading.fields.push_back(std::string(field.name_string()) + "=" + std::string(field.value()));
      }
      parser.eager(true);
    } else if (used == 0) {
      break;
    }
  }
  reading.method = std::string(message.method_string());
  reading.target = std::string(message.target());
  reading.body = message.body();
  if (!parser.is_done()) reading.error = error ? error.message() : "incomplete";
  return reading;
}

struct Own {
  PaddedBytes bytes;
  RequestParser parser{RequestRules{}};
  Reading reading;
  bool whole = false;

  explicit Own(std::string_view input) : bytes(input) {
    if (parser.parse(bytes.view()) != Parsed::kComplete) return;
    const RequestHead& head = parser.head();
    const BodyRead body = read_body(head.body, input.substr(parser.consumed()));
    whole = body.state == Parsed::kComplete;
    reading = {std::string(head.method), std::string(head.target), body.content, {}, 0, {}};
    reading.consumed = head.bytes.size() + body.consumed;
    for (const Field& field : head.fields) {
      reading.fields.push_back(std::string(field.name(head.bytes)) + "=" + std::string(head.value(field)));
    }
  }
};

void expect_same(const Own& own, std::string_view input) {
  const Reading other = read_by_beast(input.substr(own.parser.consumed() - own.parser.head().bytes.size()));
  ASSERT_EQ(other.error, "") << testing::PrintToString(std::string(input));
  EXPECT_EQ(own.reading.method, other.method);
  EXPECT_EQ(own.reading.target, other.target);
  EXPECT_EQ(own.reading.body, other.body);
  EXPECT_EQ(own.reading.consumed, other.consumed) << testing::PrintToString(std::string(input));
  // Beast keeps lines of one name together, so the order is compared per name.
  std::vector<std::string> mine = own.reading.fields;
  std::vector<std::string> theirs = other.fields;
  const auto by_name = [](const std::string& a, const std::string& b) {
    return std::ranges::lexicographical_compare(a.substr(0, a.find('=')), b.substr(0, b.find('=')),
                                                [](char x, char y) { return std::tolower(x) < std::tolower(y); });
  };
  std::ranges::stable_sort(mine, by_name);
  std::ranges::stable_sort(theirs, by_name);
  EXPECT_EQ(mine, theirs);
}

TEST(OracleTest, BeastReadsRandomGoodRequestsAlike) {
  for (unsigned seed = 1; seed <= 3000; ++seed) {
    const std::string input = MessageGenerator(seed).request();
    const Own own(input);
    ASSERT_TRUE(own.whole) << seed << " " << own.parser.rejection().code << testing::PrintToString(input);
    expect_same(own, input);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(OracleTest, WhatIsAcceptedOfDamagedRequestsBeastReadsAlike) {
  int accepted = 0;
  for (unsigned seed = 1; seed <= 20000; ++seed) {
    MessageGenerator generator(seed);
    std::string input = generator.request();
    for (std::size_t left = generator.below(3) + 1; left > 0; --left) {
      static constexpr std::string_view kDamage("\r\n\t \0:;,=0a\x7F\x80#_", 15);
      const std::size_t at = generator.below(input.size());
      if (generator.chance(3)) {
        input.erase(at, 1);
      } else if (generator.chance(2)) {
        input.insert(at, 1, kDamage[generator.below(kDamage.size())]);
      } else {
        input[at] = kDamage[generator.below(kDamage.size())];
      }
    }
    const Own own(input);
    if (!own.whole) continue;
    // Beast checks what Connection names to be tokens; here nothing but three names is looked for.
    if (own.parser.head().names_fields) continue;
    ++accepted;
    expect_same(own, input);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(accepted, 1000);
}

TEST(OracleTest, WhatIsAcceptedOfTheCorpusBeastReadsAlike) {
  if (!std::filesystem::exists(kCorpora)) GTEST_SKIP() << "no corpora at " << kCorpora;
  int accepted = 0;
  const json cases = json::parse(read_file(kCorpora / "h1-cases.json"));
  for (const auto& test_case : cases["cases"]) {
    if (test_case["category"] == "response") continue;
    // Beast reads trailers as if they were fields of the head; here Content-Length among them is dropped.
    if (test_case["id"].get<std::string>().find("trailer_forbidden") != std::string::npos) continue;
    std::string input;
    for (const auto& step : test_case["payload_base64"]) input += decode_base64(step.get<std::string>()).value();
    const Own own(input);
    if (!own.whole) continue;
    ++accepted;
    expect_same(own, input);
    if (HasFailure()) FAIL() << test_case["id"] << test_case["note"];
  }
  EXPECT_GT(accepted, 50);
}

}  // namespace
}  // namespace weir::http
