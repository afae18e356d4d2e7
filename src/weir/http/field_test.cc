// SPDX-License-Identifier: Apache-2.0
#include "weir/http/field.h"

#include <gtest/gtest.h>

#include <cctype>
#include <string>

namespace weir::http {
namespace {

constexpr int kFirst = static_cast<int>(FieldId::kOther) + 1;
constexpr int kEnd = static_cast<int>(FieldId::kCount);

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

TEST(FieldTest, EveryKnownNameIsFoundInAnyCase) {
  for (int i = kFirst; i < kEnd; ++i) {
    const auto id = static_cast<FieldId>(i);
    const std::string name(field_name(id));
    EXPECT_EQ(field_id(name), id) << name;
    EXPECT_EQ(field_id(upper(name)), id) << name;
    EXPECT_TRUE(same_name(name, upper(name)));
  }
  EXPECT_EQ(field_name(FieldId::kXRequestId), "X-Request-Id");
  EXPECT_EQ(field_name(FieldId::kTe), "TE");
}

TEST(FieldTest, OneOtherByteIsAnotherName) {
  for (int i = kFirst; i < kEnd; ++i) {
    const std::string name(field_name(static_cast<FieldId>(i)));
    for (std::size_t at = 0; at < name.size(); ++at) {
      for (int c = 0; c < 256; ++c) {
        std::string other = name;
        other[at] = static_cast<char>(c);
        const bool same = same_name(name, other);
        ASSERT_EQ(field_id(other) == static_cast<FieldId>(i), same) << name << " " << at << " " << c;
        ASSERT_EQ(same, std::tolower(c) == std::tolower(static_cast<unsigned char>(name[at]))) << name << c;
      }
    }
    EXPECT_EQ(field_id(name + "x"), FieldId::kOther);
    EXPECT_EQ(field_id(name.substr(1)), FieldId::kOther);
  }
}

TEST(FieldTest, UnknownNamesAreOther) {
  for (const char* name : {"", "a", "ab", "abc", "abcd", "User-Agent", "a-name-much-longer-than-any-known-one"}) {
    EXPECT_EQ(field_id(name), FieldId::kOther) << name;
  }
}

}  // namespace
}  // namespace weir::http
