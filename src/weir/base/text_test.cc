// SPDX-License-Identifier: Apache-2.0
#include "weir/base/text.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>

namespace weir {
namespace {

TEST(TextTest, PiecesStandInTheirOrder) {
  Text text;
  text.append("Retry-After: ").number(7).append("\r\n").append(std::string_view("x")).append('y');
  EXPECT_EQ(text.view(), "Retry-After: 7\r\nxy");
}

TEST(TextTest, NumbersAreWrittenAsTheStandardLibraryWritesThem) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 10000; ++i) {
    const auto value = static_cast<std::int64_t>(random() >> (1 + random() % 63));
    Text text;
    text.number(value);
    ASSERT_EQ(text.view(), std::to_string(value));
  }
  for (const std::int64_t value : {std::int64_t{0}, std::int64_t{9}, std::int64_t{10}, std::int64_t{99},
                                   std::int64_t{100}, std::numeric_limits<std::int64_t>::max()}) {
    Text text;
    text.number(value);
    EXPECT_EQ(text.view(), std::to_string(value));
  }
}

TEST(TextTest, PaddingAddsZerosAndCutsNothing) {
  EXPECT_EQ(Text().padded(7, 3).view(), "007");
  EXPECT_EQ(Text().padded(1234, 3).view(), "1234");
}

TEST(TextTest, AReplacementMayBeShorterOrLonger) {
  Text text("Length: 000\r\nbody");
  text.replace(8, 3, "12345");
  EXPECT_EQ(text.view(), "Length: 12345\r\nbody");
  text.replace(8, 5, "7");
  EXPECT_EQ(text.view(), "Length: 7\r\nbody");
}

TEST(TextTest, GrowsAndKeepsItsMemory) {
  Text text;
  std::string wanted;
  for (int i = 0; i < 1000; ++i) {
    text.append("some words, ").number(i);
    wanted += "some words, " + std::to_string(i);
  }
  EXPECT_EQ(text.view(), wanted);
  const std::size_t capacity = text.capacity();
  text.clear();
  EXPECT_TRUE(text.empty());
  EXPECT_EQ(text.capacity(), capacity);
  text.release();
  EXPECT_EQ(text.capacity(), 0U);
}

}  // namespace
}  // namespace weir
