// SPDX-License-Identifier: Apache-2.0
#include "weir/explain/explanation.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace weir::explain {
namespace {

constexpr const char* kRaw = "\xFF\x1B[2J\xC2\x9B\n";

// With such bytes wherever somebody else writes.
Explanation raw() {
  Explanation one;
  one.request = {.method = kRaw, .target = kRaw, .path = kRaw, .host = kRaw, .from = kRaw};
  one.route = RouteFacts{.service = kRaw, .host = kRaw, .path = kRaw, .read_as = "/a", .upstream = kRaw};
  one.attributes = {{.name = kRaw, .value = kRaw, .source = "header", .text = kRaw}};
  one.notes = {kRaw};
  one.bypass = kRaw;
  one.policies = SourceFacts{"database", kRaw};
  one.counters = SourceFacts{"redis", kRaw};
  LimitFacts& limit = one.limits.emplace_back();
  limit.name = limit.text = limit.account = limit.key = limit.endpoint = limit.numbers_from = kRaw;
  limit.applies = limit.by_endpoint = true;
  one.answer = {.word = "forward", .code = kRaw, .text = kRaw, .fields = {{kRaw, kRaw}}, .body = kRaw};
  return one;
}

TEST(ExplanationTest, NothingThatIsPrintedCommandsATerminal) {
  for (const std::string& text : {to_text(raw()), to_json(raw())}) {
    EXPECT_TRUE(std::ranges::all_of(text, [](char c) { return c == '\n' || (0x20 <= c && c < 0x7F); })) << text;
  }
}

TEST(ExplanationTest, ALimitSaysWhatItsGatewayDoesWithoutTheStore) {
  Explanation one;
  LimitFacts& limit = one.limits.emplace_back();
  limit.applies = true;
  limit.without_store = "local";
  limit.count = CountFacts{.known = false, .remaining = 3, .admits = true};
  EXPECT_NE(to_text(one).find("not known; the gateway's own share, never used, has 3 remaining; admits it"),
            std::string::npos);
  limit.count.reset();
  EXPECT_NE(to_text(one).find("state    not known\n"), std::string::npos);
}

}  // namespace
}  // namespace weir::explain
