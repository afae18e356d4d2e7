// SPDX-License-Identifier: Apache-2.0
#include "weir/http/date.h"

#include <gtest/gtest.h>

namespace weir::http {
namespace {

using std::chrono::seconds;

const WallTime kNow{seconds(1'795'996'830)};  // 2026-11-30

TEST(DateTest, IsWrittenAsImfFixdate) {
  EXPECT_EQ(imf_date(WallTime(seconds(784'111'777))), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(imf_date(WallTime(seconds(1'835'395'199) + std::chrono::milliseconds(999))),
            "Mon, 28 Feb 2028 23:59:59 GMT");
}

TEST(DateTest, AllThreeFormsAreRead) {
  for (const char* text :
       {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"}) {
    const auto date = parse_date(text, kNow);
    ASSERT_TRUE(date) << text;
    EXPECT_EQ(date->time_since_epoch(), seconds(784'111'777)) << text;
  }
}

TEST(DateTest, TwoDigitYearsFarAheadBelongToThePastCentury) {
  EXPECT_EQ(imf_date(*parse_date("Monday, 01-Jan-76 00:00:00 GMT", kNow)), "Wed, 01 Jan 2076 00:00:00 GMT");
  EXPECT_EQ(imf_date(*parse_date("Monday, 01-Jan-77 00:00:00 GMT", kNow)), "Sat, 01 Jan 1977 00:00:00 GMT");
}

TEST(DateTest, WhatIsNoDateIsNotRead) {
  for (const char* text :
       {"", "0", "soon", "Sun, 06 Nov 1994 08:49:37", "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sun, -6 Nov 1994 08:49:37 GMT"}) {
    EXPECT_FALSE(parse_date(text, kNow)) << text;
  }
}

}  // namespace
}  // namespace weir::http
