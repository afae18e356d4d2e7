// SPDX-License-Identifier: Apache-2.0
#include "weir/limit/golden_traces.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "weir/limit/testing/subject.h"

namespace weir::limit::golden {
namespace {

void expect(const Outcome& outcome, const Step& step, Cost capacity) {
  EXPECT_EQ(outcome.admitted, step.admitted);
  EXPECT_EQ(outcome.remaining, step.remaining);
  EXPECT_EQ(outcome.retry_after, retry_after(step));
  EXPECT_EQ(outcome.reset_after, step.reset_after);
  EXPECT_EQ(outcome.next_after.has_value(), outcome.remaining < capacity);
  EXPECT_EQ(outcome.delay, 0);
}

TEST(GoldenTracesTest, EveryStepGivesTheExactValues) {
  for (const Trace& trace : traces()) {
    Subject subject(trace.limit);
    std::ranges::copy(trace.seed, subject.words().begin());
    for (std::size_t i = 0; i < trace.steps.size(); ++i) {
      SCOPED_TRACE(std::string(trace.name) + ", step " + std::to_string(i));
      const Step& step = trace.steps[i];
      expect(subject.step(Call::at(step.now), step.cost), step, trace.limit.capacity());
    }
  }
}

}  // namespace
}  // namespace weir::limit::golden
