// SPDX-License-Identifier: Apache-2.0
#include "weir/config/scalars.h"

#include <gtest/gtest.h>

#include "weir/config/environment.h"
#include "weir/config/near_word.h"

namespace weir::config {
namespace {

using namespace std::chrono_literals;

TEST(DurationTest, ANumberAndAUnitMakeADuration) {
  const std::pair<const char*, nanoseconds> cases[] = {
      {"250ms", 250ms},           {"5s", 5s}, {"2min", 2min}, {"1h", 1h}, {"1day", 24h}, {"0s", 0s},
      {"106751day", 106751 * 24h}};
  for (const auto& [text, value] : cases) {
    ASSERT_TRUE(parse_duration(text)) << text;
    EXPECT_EQ(*parse_duration(text), value) << text;
    EXPECT_EQ(parse_duration(duration_text(value)), value) << text;
  }
}

TEST(DurationTest, EverythingElseIsRefused) {
  for (const char* text : {"", "5", "s", "-5s", "+5s", "5 s", "1.5s", "5S", "5us", "5m", "1h30min", "5s ",
                           "106752day", "99999999999999999999s", "0x5s"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
  EXPECT_EQ(parse_duration("5sec").error().suggestion, "did you mean '5s'?");
  EXPECT_EQ(parse_duration("5m").error().suggestion, "did you mean '5min'?");
}

TEST(SizeTest, ANumberAndAUnitMakeASize) {
  const std::pair<const char*, std::uint64_t> cases[] = {{"0", 0},         {"512", 512},       {"512B", 512},
                                                         {"64KiB", 65536}, {"2MiB", 2u << 20}, {"3GiB", 3ull << 30}};
  for (const auto& [text, value] : cases) {
    ASSERT_TRUE(parse_size(text)) << text;
    EXPECT_EQ(*parse_size(text), value) << text;
    EXPECT_EQ(parse_size(size_text(value)), value) << text;
  }
  for (const char* text : {"", "KiB", "1KB", "1kib", "1.5MiB", "-1", "1 KiB", "99999999999GiB"}) {
    EXPECT_FALSE(parse_size(text)) << text;
  }
  EXPECT_EQ(parse_size("1KB").error().suggestion, "did you mean '1KiB'?");
}

TEST(NearWordTest, DistanceCountsInsertionsDeletionsSubstitutionsAndSwaps) {
  const std::tuple<const char*, const char*, std::size_t> cases[] = {
      {"", "", 0},         {"rate", "rate", 0}, {"rate", "", 4},          {"rat", "rate", 1},
      {"raet", "rate", 1}, {"rote", "rate", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3}};
  for (const auto& [a, b, distance] : cases) {
    EXPECT_EQ(edit_distance(a, b), distance) << a << " " << b;
    EXPECT_EQ(edit_distance(b, a), distance) << b << " " << a;
  }
}

TEST(NearWordTest, OnlyWordsThatArePlausiblyMeantAreSuggested) {
  const std::vector<std::string> words{"rate", "burst", "services", "on_store_failure", "by"};
  EXPECT_EQ(did_you_mean("raet", words), "did you mean 'rate'?");
  EXPECT_EQ(did_you_mean("Rate", words), "did you mean 'rate'?");
  EXPECT_EQ(did_you_mean("service", words), "did you mean 'services'?");
  EXPECT_EQ(did_you_mean("on-store-failure", words), "did you mean 'on_store_failure'?");
  EXPECT_EQ(did_you_mean("queue", words), "");
  EXPECT_EQ(did_you_mean("x", words), "");
  EXPECT_EQ(did_you_mean("", words), "");
}

TEST(EnvironmentTest, VariablesAreReplacedOnce) {
  const auto environment = [](const std::string& name) -> std::optional<std::string> {
    if (name == "A") return "one";
    if (name == "_b2") return "${A}";
    return std::nullopt;
  };
  const std::pair<std::string, std::string> cases[] = {{"", ""},
                                                       {"plain $ text $A {A}", "plain $ text $A {A}"},
                                                       {"${A}", "one"},
                                                       {"x${A}y${A}z", "xoneyonez"},
                                                       {"${_b2}", "${A}"},
                                                       {"$${A}", "${A}"},
                                                       {"$${A}${A}$${", "${A}one${"},
                                                       {"${A}$${A}", "one${A}"}};
  for (const auto& [text, expected] : cases) EXPECT_EQ(substitute(text, environment), expected) << text;
  EXPECT_EQ(substitute("${B}", environment).error(), "the environment variable 'B' is not set");
  EXPECT_EQ(substitute("${A", environment).error(), "'${' without '}'; write '$${' for a literal '${'");
  EXPECT_EQ(substitute("${1A}", environment).error(), "'1A' is not the name of an environment variable");
  EXPECT_EQ(substitute("${}", environment).error(), "'' is not the name of an environment variable");
}

}  // namespace
}  // namespace weir::config
