// SPDX-License-Identifier: Apache-2.0
#include "histogram.h"

#include <gtest/gtest.h>

namespace weir::bench {
namespace {

TEST(HistogramTest, SmallValuesAreExact) {
  Histogram histogram;
  for (std::uint64_t value = 1; value <= 60; ++value) histogram.record(value);
  EXPECT_EQ(histogram.percentile(0.5), 30u);
  EXPECT_EQ(histogram.percentile(1.0), 60u);
  EXPECT_EQ(histogram.count(), 60u);
}

TEST(HistogramTest, EveryValueIsFoundAgainWithinOneSixtyFourth) {
  for (std::uint64_t value = 1; value < (std::uint64_t{1} << 59); value = value * 9 / 7 + 1) {
    Histogram histogram;
    histogram.record(value);
    histogram.record(value * 2);  // keeps the maximum from hiding the bucket's width
    const std::uint64_t found = histogram.percentile(0.5);
    EXPECT_GE(found, value);
    EXPECT_LE(found, value + value / 64 + 1) << value;
  }
}

TEST(HistogramTest, TheExtremesHaveABucket) {
  Histogram histogram;
  histogram.record(0);
  EXPECT_EQ(histogram.percentile(0.5), 0u);
  histogram.record(~std::uint64_t{0});
  EXPECT_EQ(histogram.max(), ~std::uint64_t{0});
  EXPECT_EQ(histogram.percentile(1.0), ~std::uint64_t{0});
}

TEST(HistogramTest, NothingRecordedIsZero) { EXPECT_EQ(Histogram().percentile(0.99), 0u); }

}  // namespace
}  // namespace weir::bench
