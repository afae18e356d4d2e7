// SPDX-License-Identifier: Apache-2.0
#include "weir/http/structured_fields.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "weir/http/base64.h"

namespace weir::http::sf {
namespace {

template <class Value>
std::string text_of(const std::optional<Value>& value) {
  return value ? serialize(*value).value_or("cannot be written") : "does not parse";
}
std::string as_list(std::string_view text) { return text_of(parse_list(text)); }
std::string as_dictionary(std::string_view text) { return text_of(parse_dictionary(text)); }
std::string as_item(std::string_view text) { return text_of(parse_item(text)); }

TEST(StructuredFieldsTest, ReadsRateLimitFields) {
  const auto list = parse_list("\"burst\";q=100;w=60, \"daily\";q=1000;w=86400");
  ASSERT_TRUE(list.has_value());
  ASSERT_EQ(list->size(), 2U);
  const Item& daily = std::get<Item>((*list)[1]);
  EXPECT_EQ(std::get<std::string>(daily.value), "daily");
  EXPECT_EQ(std::get<std::int64_t>(*daily.parameter("w")), 86400);
  EXPECT_EQ(daily.parameter("x"), nullptr);
}

TEST(StructuredFieldsTest, WritesWhatWasRead) {
  for (const char* text :
       {"\"a\";r=1;t=2, \"b\";r=0", "a/b:c*;x;y=?0", "(1 2.5 \"x\");q, ()", ":aGk=:", "?1", "@-5",
        "%\"f%c3%bc %22%25\"", "-999999999999999", "-0.001", "\"say \\\"hi\\\" \\\\ now\";r=1", "*"}) {
    EXPECT_EQ(as_list(text), text);
  }
  EXPECT_EQ(as_dictionary("a=1, b;x, c=(a b)"), "a=1, b;x, c=(a b)");
  EXPECT_EQ(as_item(" 12;a=1.50 "), "12;a=1.5");
  EXPECT_EQ(as_list("  a ,\tb "), "a, b");
  EXPECT_EQ(as_list(""), "");
  EXPECT_EQ(as_dictionary(" "), "");
}

TEST(StructuredFieldsTest, ABadMemberVoidsTheField) {
  for (const char* text : {"\"a\";r=1,",
                           ",\"a\"",
                           "\"a\" ;r=1",
                           "\"a\";R=1",
                           "\"a\";r= 1",
                           "'a';r=1",
                           "\"a;r=1",
                           "\"a\n\";r=1",
                           "\"\xC3\xA9\";r=1",
                           "\"a\";r=1234567890123456",
                           "\"a\";pk=:$:",
                           "a b",
                           "(a",
                           "(a,b)",
                           "(a\tb)",
                           "1.",
                           "1.2345",
                           "1234567890123.1",
                           "-",
                           "- 1",
                           ".1",
                           "@1.5",
                           "@",
                           "?2",
                           "?",
                           ":aGk",
                           ":a:",
                           ":a===:",
                           "%\"%C3%BC\"",
                           "%\"%c3\"",
                           "%\"%f\"",
                           "%\"\x01\"",
                           "%a",
                           "\"\\a\"",
                           "\"\\",
                           "a;",
                           "a;=1",
                           "\ta",

                           "a,\t"}) {
    EXPECT_EQ(as_list(text), "does not parse") << text;
  }
  for (const char* text : {"", "a,b", "(a)", "a=1"}) EXPECT_EQ(as_item(text), "does not parse") << text;
  for (const char* text : {"a=", "=1", "A=1", "a=1,", "a=1 b=2", "1"}) {
    EXPECT_EQ(as_dictionary(text), "does not parse") << text;
  }
}

TEST(StructuredFieldsTest, TheLastOfEqualKeysWinsInTheFirstOnesPlace) {
  EXPECT_EQ(as_list("\"a\";r=1;s=2;r=7"), "\"a\";r=7;s=2");
  EXPECT_EQ(as_dictionary("a=1, b=2, a=3"), "a=3, b=2");
}

TEST(StructuredFieldsTest, WhatHasNoTextIsNotWritten) {
  const auto write = [](BareItem value) { return serialize(Item{std::move(value), {}}); };
  EXPECT_FALSE(write(std::int64_t{1'000'000'000'000'000}).has_value());
  EXPECT_FALSE(write(std::numeric_limits<std::int64_t>::min()).has_value());
  EXPECT_FALSE(write(Decimal{1'000'000'000'000'000}).has_value());
  EXPECT_FALSE(write(Decimal{std::numeric_limits<std::int64_t>::min()}).has_value());
  EXPECT_FALSE(write(std::string("\xC3\xA9")).has_value());
  EXPECT_FALSE(write(std::string("a\n")).has_value());
  EXPECT_FALSE(write(Token{""}).has_value());
  EXPECT_FALSE(write(Token{"1a"}).has_value());
  EXPECT_FALSE(write(Token{"a b"}).has_value());
  EXPECT_FALSE(write(Date{1'000'000'000'000'000}).has_value());
  EXPECT_FALSE(write(DisplayString{"\xC3"}).has_value());
  EXPECT_FALSE(serialize(Item{true, {{"A", true}}}).has_value());
  EXPECT_FALSE(serialize(Dictionary{{"", Item{true, {}}}}).has_value());
}

TEST(StructuredFieldsTest, DecimalsRoundHalvesToEven) {
  EXPECT_EQ(Decimal::nearest(0.0015).thousandths, 2);
  EXPECT_EQ(Decimal::nearest(0.0025).thousandths, 2);
  EXPECT_EQ(Decimal::nearest(-9.9995).thousandths, -10000);
  EXPECT_FALSE(serialize(Item{Decimal::nearest(1e300), {}}).has_value());
  EXPECT_FALSE(serialize(Item{Decimal::nearest(std::numeric_limits<double>::quiet_NaN()), {}}).has_value());
}

TEST(StructuredFieldsTest, TakesTheSizesThatEveryParserHasToTakeAndNoEndlessOnes) {
  const auto parameters = [](int count) {
    std::string text = "a";
    for (int i = 0; i < count; ++i) text += ";k" + std::to_string(i);
    return text;
  };
  EXPECT_TRUE(parse_item(parameters(256)).has_value());
  EXPECT_TRUE(parse_item(parameters(1024)).has_value());
  EXPECT_FALSE(parse_item(parameters(1025)).has_value());
  EXPECT_TRUE(parse_item("\"" + std::string(65536, 'x') + "\"").has_value());
}

TEST(StructuredFieldsTest, DisplayStringsHoldUtf8Only) {
  for (const char* good :
       {"%c2%80", "%df%bf", "%e0%a0%80", "%ed%9f%bf", "%ef%bf%bf", "%f0%90%80%80", "%f4%8f%bf%bf", "%00"}) {
    EXPECT_TRUE(parse_item("%\"" + std::string(good) + "\"").has_value()) << good;
  }
  for (const char* bad : {"%80", "%c1%80", "%c2", "%c2a", "%e0%9f%80", "%ed%a0%80", "%f0%8f%80%80", "%f4%90%80%80",
                          "%f5%80%80%80", "%ff", "%e2%82"}) {
    EXPECT_FALSE(parse_item("%\"" + std::string(bad) + "\"").has_value()) << bad;
  }
}

TEST(Base64Test, IsWrittenWithPaddingAndReadWithout) {
  struct Row {
    std::string octets, text;
  };
  for (const Row& row :
       std::vector<Row>{{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"\xFB\xFF", "+/8="}}) {
    EXPECT_EQ(encode_base64(row.octets), row.text);
    EXPECT_EQ(decode_base64(row.text), row.octets);
    EXPECT_EQ(decode_base64(row.text.substr(0, row.text.find('='))), row.octets);
  }
  EXPECT_EQ(decode_base64("Zh=="), "f");
  for (const char* bad : {"Z", "Z===", "=", "Zg=", "Zm9v=", "Z g=", "Zm-_", "Zg==Zg=="}) {
    EXPECT_FALSE(decode_base64(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace weir::http::sf
