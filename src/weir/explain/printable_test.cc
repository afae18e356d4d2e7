// SPDX-License-Identifier: Apache-2.0
#include "weir/explain/printable.h"

#include <gtest/gtest.h>

namespace weir::explain {
namespace {

TEST(PrintableTest, WhatPeopleWriteStaysAsItIs) {
  for (const char* text : {"", "acme", "a\\,b",
                           "Gr\xC3\xBC\xC3\x9F"
                           "e \xE2\x82\xAC \xF0\x9F\x8D\x9D"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(PrintableTest, WhatCommandsATerminalIsEscaped) {
  EXPECT_EQ(printable("a\x1B[2J\nb\x7F"), "a\\x1b[2J\\x0ab\\x7f");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\\xc2\\x9b31m");
  EXPECT_EQ(printable("\xE2\x80\xAE"
                      "x\xE2\x81\xA6"),
            "\\xe2\\x80\\xaex\\xe2\\x81\\xa6");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(PrintableTest, WhatIsNoUtf8IsEscapedByteByByte) {
  EXPECT_EQ(printable("\xFF"
                      "a\xC3"),
            "\\xffa\\xc3");
  EXPECT_EQ(printable("\xED\xA0\x80"), "\\xed\\xa0\\x80");
}

TEST(PrintableTest, TwiceIsAsOnce) { EXPECT_EQ(printable(printable("\x1B\\x")), "\\x1b\\x"); }

}  // namespace
}  // namespace weir::explain
