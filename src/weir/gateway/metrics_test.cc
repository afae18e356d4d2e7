// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/metrics.h"

#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <sstream>

namespace weir::gateway {
namespace {

std::string text_of(const std::vector<const WorkerMetrics*>& workers, const ProcessFigures& process = {}) {
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, collect(workers, {}, process));
  return out.str();
}

bool has_line(const std::string& text, const std::string& line) {
  return text.find("\n" + line + "\n") != std::string::npos;
}

TEST(MetricsTest, CountersOfAllWorkersAreAddedUp) {
  WorkerMetrics one;
  WorkerMetrics other;
  one.service("A").record(200, std::chrono::milliseconds(3));
  other.service("A").record(200, std::chrono::milliseconds(300));
  other.service("A").record(429, std::chrono::microseconds(20));
  one.service("").record(400, {});
  one.limit("all").admitted.add(2);
  other.limit("all").refused.add();
  const std::string text = text_of({&one, &other});
  EXPECT_TRUE(has_line(text, R"(weir_requests_total{code="200",route="A"} 2)")) << text;
  EXPECT_TRUE(has_line(text, R"(weir_requests_total{code="429",route="A"} 1)"));
  EXPECT_TRUE(has_line(text, R"(weir_requests_total{code="400",route="none"} 1)"));
  EXPECT_TRUE(has_line(text, R"(weir_decisions_total{limit="all",result="admitted"} 2)"));
  EXPECT_TRUE(has_line(text, R"(weir_decisions_total{limit="all",result="refused"} 1)"));
  EXPECT_TRUE(has_line(text, R"(weir_request_duration_seconds_bucket{code="200",route="A",le="0.005"} 1)"));
  EXPECT_TRUE(has_line(text, R"(weir_request_duration_seconds_bucket{code="200",route="A",le="0.5"} 2)"));
  EXPECT_TRUE(has_line(text, R"(weir_request_duration_seconds_bucket{code="200",route="A",le="+Inf"} 2)"));
}

TEST(MetricsTest, AnUpperBoundBelongsToItsBucket) {
  WorkerMetrics worker;
  worker.service("A").record(200, std::chrono::microseconds(500));
  const std::string text = text_of({&worker});
  EXPECT_TRUE(has_line(text, R"(weir_request_duration_seconds_bucket{code="200",route="A",le="0.0005"} 1)")) << text;
}

// What was found once keeps counting when a configuration is loaded again.
TEST(MetricsTest, ANameFoundAgainIsTheSameCounter) {
  WorkerMetrics worker;
  EXPECT_EQ(&worker.service("A"), &worker.service("A"));
  EXPECT_EQ(&worker.limit("A"), &worker.limit("A"));
  EXPECT_NE(&worker.limit("A"), &worker.limit("B"));
}

TEST(MetricsTest, FiguresOfTheProcessAreThere) {
  const std::string text =
      text_of({}, {.version = "1.2.3", .accounts = 7, .reloads_failed = 2, .access_log_dropped = 5});
  EXPECT_TRUE(has_line(text, R"(weir_keys{store="memory"} 7)")) << text;
  EXPECT_TRUE(has_line(text, R"(weir_config_reloads_total{result="failure"} 2)"));
  EXPECT_TRUE(has_line(text, R"(weir_access_log_lines_total{result="dropped"} 5)"));
  EXPECT_TRUE(has_line(text, R"(weir_build_info{version="1.2.3"} 1)"));
}

}  // namespace
}  // namespace weir::gateway
