// SPDX-License-Identifier: Apache-2.0
#include "weir/base/percent.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

TEST(PercentTest, NothingIsLeftThatMeansSomethingInAPathOrAQuery) {
  EXPECT_EQ(percent_encoded("acme,MAIN"), "acme%2CMAIN");
  EXPECT_EQ(percent_encoded("a/b?c#d%e\\"), "a%2Fb%3Fc%23d%25e%5C");
  EXPECT_EQ(percent_encoded("\xC3\xA9 "), "%C3%A9%20");
  EXPECT_EQ(percent_encoded("A-z_0.9~"), "A-z_0.9~");
  EXPECT_EQ(percent_encoded("a b/c~"), "a%20b%2Fc~");
}

}  // namespace
}  // namespace weir
