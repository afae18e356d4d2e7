// SPDX-License-Identifier: Apache-2.0
//
// The promise that how bytes are cut does not matter, on random good and damaged messages, and what it costs.
#include <gtest/gtest.h>

#include <string>

#include "weir/http/exchange_for_tests.h"
#include "weir/http/message_generator.h"

namespace weir::http {
namespace {

// Small limits, so that random messages meet them.
constexpr RequestRules kSmall{.max_target = 30, .max_head = 300, .max_fields = 8};
constexpr RequestRules kDropping{.drop_underscores = true, .target_authority_wins = true};

void expect_same_in_pieces(const std::string& input, const RequestRules& rules) {
  const Exchange whole = play(input, 0, rules);
  for (std::size_t step : {1, 2, 3, 7, 16, 33}) {
    const Exchange cut = play(input, step, rules);
    ASSERT_EQ(cut.text, whole.text) << step << testing::PrintToString(input);
    ASSERT_EQ(cut.end, whole.end) << step;
    ASSERT_EQ(cut.whole, whole.whole) << step;
  }
}

TEST(PiecesTest, PiecesOfAnySizeGiveTheSameMessages) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    MessageGenerator generator(seed);
    std::string input = generator.request() + generator.request();
    for (const RequestRules& rules : {RequestRules{}, kSmall, kDropping}) expect_same_in_pieces(input, rules);
    for (int damage = 0; damage < 4; ++damage) {
      input[generator.below(input.size())] = "\r\n\t :\x01\x80_"[generator.below(8)];
      for (const RequestRules& rules : {RequestRules{}, kSmall, kDropping}) expect_same_in_pieces(input, rules);
    }
  }
}

TEST(PiecesTest, ACutAtEveryByteGivesTheSameHead) {
  for (unsigned seed = 1000; seed < 1100; ++seed) {
    const std::string input = MessageGenerator(seed).request();
    const PaddedBytes bytes(input);
    RequestParser whole{RequestRules{}};
    ASSERT_EQ(whole.parse(bytes.view()), Parsed::kComplete);
    for (std::size_t cut = 0; cut < whole.consumed(); ++cut) {
      RequestParser parser{RequestRules{}};
      ASSERT_EQ(parser.parse(PaddedBytes(input.substr(0, cut)).view()), Parsed::kIncomplete) << cut;
      const PaddedBytes moved(input, '\0');
      ASSERT_EQ(parser.parse(moved.view()), Parsed::kComplete) << cut;
      ASSERT_EQ(describe(parser.head()), describe(whole.head())) << cut;
    }
  }
}

TEST(PiecesTest, AFaultShowsWithTheByteThatMakesIt) {
  // The shortest prefix that is refused, marked by '|'.
  for (std::string text :
       {"G\x80|ET", "\x16|", "GET  |", "GET /\x01|", "GET / HTTX|", "GET / HTTP/1.1\n|", "GET / HTTP/1.1\rH|",
        "GET / HTTP/1.1\r\n |", "GET / HTTP/1.1\r\nA |: b", "GET / HTTP/1.1\r\nA: b\n|", "GET / HTTP/1.1\r\nA: \x07|",
        "GET / HTTP/1.1\r\nA_|", "\r\n\r\n\r\n\r\n\r|", "\n|"}) {
    const std::size_t fault = text.find('|');
    text.erase(fault, 1);
    RequestParser early{RequestRules{}};
    EXPECT_EQ(early.parse(PaddedBytes(text.substr(0, fault - 1)).view()), Parsed::kIncomplete) << text;
    EXPECT_EQ(early.parse(PaddedBytes(text.substr(0, fault)).view()), Parsed::kRejected) << text;
  }
}

// A parser that scanned a part again with every byte would look at 2^40 of them.
TEST(PiecesTest, AMegabyteByteByByteIsLinear) {
  constexpr std::size_t kSize = 1 << 20;
  const RequestRules wide{.max_target = kSize, .max_head = 3 * kSize, .max_fields = kSize};
  std::string lines;
  while (lines.size() < kSize) lines += "a:\r\n";
  for (const std::string& part : {"GET /" + std::string(kSize - 8, 'p'), "GET /?" + std::string(kSize - 8, 'q'),
                                  "GET / HTTP/1.1\r\nA: " + std::string(kSize, ' '),
                                  "GET / HTTP/1.1\r\nA: " + std::string(kSize, 'v'), "GET / HTTP/1.1\r\n" + lines}) {
    const PaddedBytes bytes(part);
    RequestParser parser(wide);
    Parsed state = Parsed::kIncomplete;
    for (std::size_t size = 1; size <= part.size() && state == Parsed::kIncomplete; ++size) {
      state = parser.parse(bytes.view().substr(0, size));
    }
    EXPECT_EQ(state, Parsed::kIncomplete) << part.substr(0, 20);
  }
}

}  // namespace
}  // namespace weir::http
