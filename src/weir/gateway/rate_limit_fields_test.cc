// SPDX-License-Identifier: Apache-2.0
#include "weir/gateway/rate_limit_fields.h"

#include <gtest/gtest.h>

#include <string>

#include "weir/gateway/problem.h"
#include "weir/http/parser.h"

namespace weir::gateway {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr limit::Ticks kSecond = 1'000'000'000;
constexpr WallTime kNow{seconds(1'795'996'830)};  // 2026-11-30T00:00:30Z

policy::LimitInfo info(std::string name, std::int64_t count, nanoseconds period, std::int64_t burst = 0) {
  if (burst == 0) burst = count;
  return {.name = std::move(name),
          .variants = {*limit::TokenBucket::create({.count = count, .period = period.count(), .capacity = burst})},
          .variant_rates = {config::Rate{count, period}}};
}

decide::LimitOutcome admitted(policy::LimitIndex limit, std::int64_t remaining, limit::Ticks next,
                              limit::Ticks reset) {
  return {.limit = limit,
          .outcome = {
              .admitted = true, .remaining = remaining, .retry_after = 0, .reset_after = reset, .next_after = next}};
}

decide::LimitOutcome refused(policy::LimitIndex limit, limit::Ticks retry, limit::Ticks reset) {
  return {.limit = limit,
          .outcome = {
              .admitted = false, .remaining = 0, .retry_after = retry, .reset_after = reset, .next_after = retry}};
}

decide::Decision decision(std::vector<decide::LimitOutcome> outcomes) {
  decide::Decision made;
  made.reached = decide::Reached::kEvaluated;
  for (const auto& outcome : outcomes) made.admitted &= outcome.outcome.admitted;
  made.outcomes = std::move(outcomes);
  made.wall = kNow.time_since_epoch().count();
  return made;
}

std::string fields(const RateLimitFields& writer, const decide::Decision& decision, int status = 200) {
  Text out;
  writer.append(out, decision, status, kNow);
  std::string text(out.view());
  std::erase(text, '\r');
  return text;
}

config::Responses structured_only() {
  config::Responses responses;
  responses.x_ratelimit = false;
  return responses;
}

policy::LimitInfo info(std::string name, limit::Limit limit, const config::Rate& rate) {
  return {.name = std::move(name), .variants = {std::move(limit)}, .variant_rates = {rate}};
}

TEST(RateLimitFieldsTest, EveryAlgorithmSaysWhatItCountsIn) {
  const auto month =
      limit::CivilCalendar::create({.unit = limit::CivilCalendar::Unit::kMonth, .zone = "Asia/Seoul"}).value();
  const limit::Ticks tenth = kSecond / 10;
  const std::vector limits{
      info("fixed", limit::FixedWindow::create({.capacity = 9, .alignment = {.window = tenth}}).value(),
           {9, milliseconds(100)}),
      info("sliding", limit::SlidingWindow::create({.capacity = 5, .alignment = {.window = 60 * kSecond}}).value(),
           {5, minutes(1)}),
      info("line", limit::LeakyBucket::create({.count = 50, .period = kSecond, .queue = 100}).value(),
           {50, seconds(1)}),
      info("running", limit::Concurrency::create({.capacity = 7, .lease = kSecond}).value(), {7, {}}),
      info("quota", limit::CalendarQuota::create({.capacity = 1000}, month).value(),
           {1000, {}, config::CivilUnit::kMonth})};
  std::vector<decide::LimitOutcome> outcomes;
  for (policy::LimitIndex i = 0; i < limits.size(); ++i) outcomes.push_back(admitted(i, i, kSecond, kSecond));
  outcomes[3].outcome.next_after.reset();
  const std::string structured = fields(RateLimitFields(structured_only(), limits), decision(outcomes));
  EXPECT_EQ(structured,
            "RateLimit-Policy: \"fixed\";q=9;w=1, \"sliding\";q=5;w=60, \"line\";q=50;w=1;weir-burst=101, "
            "\"running\";q=7;qu=\"concurrent-requests\", \"quota\";q=1000;w=2592000\n"
            "RateLimit: \"fixed\";r=0;t=1, \"sliding\";r=1;t=1, \"line\";r=2;t=1, \"running\";r=3, "
            "\"quota\";r=4;t=1\n");
  config::Responses legacy = structured_only();
  legacy.ratelimit = config::RateLimitFields::kLegacy;
  EXPECT_NE(fields(RateLimitFields(legacy, limits), decision(outcomes))
                .find("RateLimit-Policy: 9;w=1, 5;w=60, 50;w=1, 7, 1000;w=2592000\n"),
            std::string::npos);
}

// The example of a refusal: a burst and a daily limit, field by field and byte by byte.
TEST(RateLimitFieldsTest, ARefusalTellsWhoRefusesForHowLong) {
  const std::vector limits{info("burst", 100, minutes(1)), info("daily", 1000, days(1))};
  const RateLimitFields writer({}, limits);
  decide::Decision refusal =
      decision({refused(0, 4'200'000'000, 5 * kSecond), admitted(1, 412, 86'370 * kSecond, 90'000 * kSecond)});
  Text out;
  const std::size_t size =
      write_refusal(out, refusal, writer, "Too many requests. Try again in {retry_after} s.",
                    {.date = "Mon, 30 Nov 2026 00:00:30 GMT", .wall = kNow, .request_id = "01JDXW5Z"});
  std::string text(out.view());
  std::erase(text, '\r');
  const std::string body =
      R"({"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Quota Exceeded","status":429,)"
      R"("detail":"Too many requests. Try again in 5 s.","code":"quota-exceeded","violated-policies":["burst"],)"
      R"("retry_after_ms":4200,"request_id":"01JDXW5Z"})";
  EXPECT_EQ(size, body.size());
  EXPECT_EQ(text,
            "HTTP/1.1 429 Too Many Requests\nDate: Mon, 30 Nov 2026 00:00:30 GMT\nServer: weir\n"
            "Cache-Control: no-store\nX-Request-Id: 01JDXW5Z\nRetry-After: 5\n"
            "RateLimit-Policy: \"burst\";q=100;w=60, \"daily\";q=1000;w=86400\n"
            "RateLimit: \"burst\";r=0;t=5, \"daily\";r=412;t=86370\n"
            "X-RateLimit-Limit: 100\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 1795996835\n"
            "Content-Type: application/problem+json\nContent-Length: " +
                std::to_string(body.size()) + "\n\n" + body);
}

TEST(RateLimitFieldsTest, ARefusalThatNoWaitHelpsHasNoRetryAfter) {
  const RateLimitFields writer({}, {info("a", 5, seconds(1))});
  decide::Decision refusal = decision({refused(0, 0, 0)});
  refusal.outcomes[0].outcome.retry_after.reset();
  Text out;
  write_refusal(out, refusal, writer, "Again in {retry_after} s.", {.date = "d", .wall = kNow, .request_id = {}});
  EXPECT_EQ(out.view().find("Retry-After"), std::string_view::npos);
  EXPECT_EQ(out.view().find("retry_after"), std::string_view::npos);
  EXPECT_NE(out.view().find("waiting does not help"), std::string_view::npos);
}

TEST(RateLimitFieldsTest, TheDetailMayNameTheWaitWhereverItWants) {
  const RateLimitFields writer({}, {info("a", 5, seconds(1))});
  Text out;
  write_refusal(out, decision({refused(0, 7 * kSecond, 0)}), writer, R"({retry_after}s "or" {retry_after})",
                {.date = "d", .wall = kNow, .request_id = {}});
  EXPECT_NE(out.view().find(R"("detail":"7s \"or\" 7")"), std::string_view::npos) << out.view();
}

TEST(RateLimitFieldsTest, APolicyIsWrittenInWholeSeconds) {
  const auto policy = [](std::int64_t count, nanoseconds period, std::int64_t burst = 0) {
    const RateLimitFields writer(structured_only(), {info("a", count, period, burst)});
    const std::string text = fields(writer, decision({admitted(0, 1, 1, 1)}));
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(policy(20, seconds(1)), "RateLimit-Policy: \"a\";q=20;w=1");
  EXPECT_EQ(policy(20, minutes(1)), "RateLimit-Policy: \"a\";q=20;w=60");
  EXPECT_EQ(policy(10, milliseconds(100), 100), "RateLimit-Policy: \"a\";q=100;w=1");
  EXPECT_EQ(policy(3, milliseconds(1500), 6), "RateLimit-Policy: \"a\";q=2;w=1;weir-burst=6");
  EXPECT_EQ(policy(100, hours(1), 5), "RateLimit-Policy: \"a\";q=100;w=3600;weir-burst=5");
}

TEST(RateLimitFieldsTest, WaitsAreRoundedUpAndAFullBucketHasNone) {
  const RateLimitFields writer(structured_only(), {info("a", 20, seconds(1))});
  const auto item = [&](std::optional<limit::Ticks> next) {
    decide::Decision made = decision({admitted(0, 19, 0, 0)});
    made.outcomes[0].outcome.next_after = next;
    const std::string text = fields(writer, made);
    return text.substr(text.find("\nRateLimit: ") + 12);
  };
  EXPECT_EQ(item(1), "\"a\";r=19;t=1\n");
  EXPECT_EQ(item(kSecond), "\"a\";r=19;t=1\n");
  EXPECT_EQ(item(kSecond + 1), "\"a\";r=19;t=2\n");
  EXPECT_EQ(item(std::nullopt), "\"a\";r=19\n");
}

// The binding one first in RateLimit; the same order on every answer in RateLimit-Policy.
TEST(RateLimitFieldsTest, TheBindingLimitIsFirstOnlyWhereNumbersChange) {
  const RateLimitFields writer(structured_only(), {info("a", 20, seconds(1)), info("b", 5, seconds(1))});
  EXPECT_EQ(fields(writer, decision({admitted(1, 2, 1, 1), admitted(0, 9, 1, 1)})),
            "RateLimit-Policy: \"a\";q=20;w=1, \"b\";q=5;w=1\nRateLimit: \"b\";r=2;t=1, \"a\";r=9;t=1\n");
}

TEST(RateLimitFieldsTest, LimitsThatAreNotAdvertisedStayUnknownAndAtMostEightAreShown) {
  std::vector<policy::LimitInfo> limits;
  std::vector<decide::LimitOutcome> outcomes;
  for (policy::LimitIndex i = 0; i < 12; ++i) {
    limits.push_back(info("l" + std::to_string(i), 20, seconds(1)));
    limits.back().advertise = i != 0;
    outcomes.push_back(admitted(i, i, 1, 1));
  }
  const std::string text = fields(RateLimitFields(structured_only(), limits), decision(outcomes));
  EXPECT_EQ(text.find("\"l0\""), std::string::npos);
  EXPECT_NE(text.find("\"l8\";r=8"), std::string::npos);
  EXPECT_EQ(text.find("\"l9\""), std::string::npos);
}

TEST(RateLimitFieldsTest, ARedirectDoesNotTellAClientToWait) {
  const RateLimitFields writer({}, {info("a", 20, seconds(1))});
  EXPECT_EQ(fields(writer, decision({admitted(0, 0, 1, 1)}), 302), "");
  EXPECT_NE(fields(writer, decision({admitted(0, 1, 1, 1)}), 302), "");
  EXPECT_NE(fields(writer, decision({admitted(0, 0, 1, 1)}), 200), "");
  EXPECT_EQ(fields(writer, decision({}), 200), "");
}

TEST(RateLimitFieldsTest, TheOlderFieldsAreOfTheBindingLimit) {
  config::Responses responses;
  responses.ratelimit = config::RateLimitFields::kLegacy;
  responses.reset = config::ResetFormat::kDelta;
  const RateLimitFields writer(responses, {info("a", 20, seconds(1)), info("b", 50, minutes(1))});
  EXPECT_EQ(fields(writer, decision({admitted(1, 3, kSecond, 47 * kSecond + 1), admitted(0, 9, 1, 1)})),
            "RateLimit-Limit: 50\nRateLimit-Remaining: 3\nRateLimit-Reset: 48\nRateLimit-Policy: 20;w=1, 50;w=60\n"
            "X-RateLimit-Limit: 50\nX-RateLimit-Remaining: 3\nX-RateLimit-Reset: 48\n");
}

std::string merged(const config::Responses& responses, std::string upstream, std::int64_t remaining = 9) {
  upstream = "HTTP/1.1 200 OK\r\n" + upstream + "\r\n";
  const std::size_t size = upstream.size();
  upstream.append(32, '\0');
  http::ResponseParser parser;
  parser.reset(false);
  EXPECT_EQ(parser.parse(std::string_view(upstream).substr(0, size)), http::Parsed::kComplete);
  const RateLimitFields writer(responses, {info("a", 20, seconds(1))});
  Text out;
  writer.append_merged(out, decision({admitted(0, remaining, kSecond, kSecond)}), parser.head(), kNow);
  std::string text(out.view());
  std::erase(text, '\r');
  return text;
}

TEST(MergeTest, ANameThatTheUpstreamUsesIsTheUpstreams) {
  EXPECT_EQ(merged(structured_only(), "RateLimit: \"a\";r=1\r\n"),
            "RateLimit-Policy: \"gw-a\";q=20;w=1\nRateLimit: \"gw-a\";r=9;t=1, \"a\";r=1\n");
  EXPECT_EQ(merged(structured_only(), "RateLimit: \"a\";r=1, \"gw-a\";r=2\r\n"),
            "RateLimit-Policy: \"gw-gw-a\";q=20;w=1\nRateLimit: \"gw-gw-a\";r=9;t=1, \"a\";r=1, \"gw-a\";r=2\n");
}

TEST(MergeTest, TheTighterTripleSurvivesWhole) {
  config::Responses responses;
  responses.ratelimit = config::RateLimitFields::kOff;
  const auto triple = [&](const std::string& theirs) { return merged(responses, theirs); };
  const std::string ours = "X-RateLimit-Limit: 20\nX-RateLimit-Remaining: 9\nX-RateLimit-Reset: 1795996831\n";
  EXPECT_EQ(triple("X-RateLimit-Limit: 100\r\nX-RateLimit-Remaining: 8\r\nX-RateLimit-Reset: 60\r\n"),
            "X-RateLimit-Limit: 100\nX-RateLimit-Remaining: 8\nX-RateLimit-Reset: 60\n");
  EXPECT_EQ(triple("X-RateLimit-Limit: 100\r\nX-RateLimit-Remaining: 10\r\nX-RateLimit-Reset: 60\r\n"), ours);
  EXPECT_EQ(triple("X-RateLimit-Limit: 100\r\nX-RateLimit-Remaining: 9\r\nX-RateLimit-Reset: 0\r\n"), ours)
      << "a tie: the later reset";
  EXPECT_EQ(triple("X-RateLimit-Remaining: 1\r\n"), ours) << "half a triple";
  EXPECT_EQ(triple("X-RateLimit-Limit: 6m0s\r\nX-RateLimit-Remaining: 1\r\nX-RateLimit-Reset: 1\r\n"), ours);
}

}  // namespace
}  // namespace weir::gateway
