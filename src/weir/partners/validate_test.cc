// SPDX-License-Identifier: Apache-2.0
#include "weir/partners/validate.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "weir/config/load_for_test.h"
#include "weir/partners/digest.h"

namespace weir::partners {
namespace {

using config::Algorithm;

LimitRow good_limit() {
  LimitRow row;
  row.limit = "partner-service";
  row.owner = {OwnerKind::kPartner, "acme"};
  row.service = "SAUCE";
  row.rate = "20/s";
  return row;
}

Key good_key() {
  Key key;
  key.id = "k";
  key.digest = digest_of("secret");
  key.partner = "acme";
  return key;
}

Scopes scopes() {
  LimitScope bucket;
  bucket.name = "partner-service";
  bucket.per_service = true;
  bucket.services = {"SAUCE", "CATALOGUE"};
  bucket.endpoints = {"GET /products/{id}", "POST /products"};
  bucket.cost = 5;
  LimitScope log;
  log.name = "log";
  log.algorithm = Algorithm::kSlidingLog;
  LimitScope running;
  running.name = "running";
  running.algorithm = Algorithm::kConcurrency;
  LimitScope queue;
  queue.name = "queue";
  queue.algorithm = Algorithm::kLeakyBucket;
  queue.queue = 10;
  LimitScope fixed;
  fixed.name = "fixed";
  fixed.from_policies = false;
  return {.limits = {bucket, log, running, queue, fixed}, .services = {"SAUCE", "CATALOGUE", "OTHER"}};
}

struct Case {
  std::function<void(LimitRow&)> change;
  std::string says;  // "field: part of the message"; empty: nothing is wrong
};

void expect(const Faults& faults, const std::string& says) {
  if (says.empty()) {
    EXPECT_TRUE(faults.empty()) << to_text(faults);
    return;
  }
  ASSERT_FALSE(faults.empty()) << says;
  EXPECT_NE(to_text(faults).find(says), std::string::npos) << to_text(faults) << "\nlacks " << says;
}

TEST(ValidateTest, TakesALimitByItselfOrSaysWhatIsWrong) {
  const std::vector<Case> cases{
      {[](LimitRow&) {}, ""},
      {[](LimitRow& row) { row.rate = "unlimited"; }, ""},
      {[](LimitRow& row) { row.rate = "50"; }, ""},
      {[](LimitRow& row) { row.burst = 100; }, ""},
      {[](LimitRow& row) { row.limit = ""; }, "limit: a name must not be empty"},
      {[](LimitRow& row) { row.limit = "\x01"; }, "limit: a name consists of printable ASCII"},
      {[](LimitRow& row) { row.owner.name = ""; }, "partner: must not be empty"},
      {[](LimitRow& row) { row.owner.name = std::string(257, 'x'); }, "partner: has 257 bytes; 256 are allowed"},
      {[](LimitRow& row) { row.owner.name = "\xff"; }, "partner: is not UTF-8"},
      {[](LimitRow& row) { row.note = "two\nlines"; }, "note: has a control character"},
      {[](LimitRow& row) { row.rate = ""; }, "rate: '' is not a rate"},
      {[](LimitRow& row) { row.rate = "a lot"; }, "rate: 'a lot' is not a rate"},
      {[](LimitRow& row) { row.rate = "20/sec"; }, "did you mean '20/s'?"},
      {[](LimitRow& row) { row.rate = "0/s"; }, "rate: a rate of 0 admits nothing"},
      {[](LimitRow& row) { row.rate = "0"; }, "rate: a count of 0 admits nothing"},
      {[](LimitRow& row) { row.rate = "1/500day"; }, "is not from 1ms to 400day"},
      {[](LimitRow& row) { row.burst = 0; }, "burst: 0 is less than 1"},
      {[](LimitRow& row) { row.burst = INT64_MAX; }, "burst: 9223372036854775807 is more than"},
      {[](LimitRow& row) { row.rate = "unlimited", row.burst = 5; }, "burst: has no meaning with an unlimited rate"},
      {[](LimitRow& row) { row.algorithm = Algorithm::kFixedWindow, row.burst = 5; },
       "burst: has no meaning with algorithm fixed_window"},
      {[](LimitRow& row) { row.algorithm = Algorithm::kTokenBucket, row.rate = "5/month"; },
       "rate: a rate per month or year needs algorithm calendar"},
      {[](LimitRow& row) { row.algorithm = Algorithm::kCalendar, row.rate = "5/month"; }, ""},
      {[](LimitRow& row) { row.algorithm = Algorithm::kCalendar; }, "rate: algorithm calendar takes a rate per day"},
      {[](LimitRow& row) { row.algorithm = Algorithm::kConcurrency; }, "rate: '20/s' is a rate, but"},
      {[](LimitRow& row) { row.algorithm = Algorithm::kTokenBucket, row.rate = "1/day", row.burst = 10'000; },
       "burst: an empty bucket of this size would take more than 10 years"},
      {[](LimitRow& row) { row.endpoint = "/products"; }, "endpoint: '/products' is not METHOD /path"},
      {[](LimitRow& row) { row.endpoint = "GET /" + std::string(600, 'x'); }, "endpoint: has 605 characters"},
  };
  for (const Case& one : cases) {
    LimitRow row = good_limit();
    one.change(row);
    expect(faults_of(Row(row)), one.says);
  }
}

TEST(ValidateTest, TakesALimitWithAConfigurationOrSaysWhatIsWrong) {
  const std::vector<Case> cases{
      {[](LimitRow&) {}, ""},
      {[](LimitRow& row) { row.endpoint = "POST /products"; }, ""},
      {[](LimitRow& row) { row.algorithm = Algorithm::kSlidingWindow; }, ""},
      {[](LimitRow& row) { row.algorithm = Algorithm::kCalendar, row.rate = "1000/month"; }, ""},
      {[](LimitRow& row) { row.limit = "partner-servce"; }, "did you mean 'partner-service'?"},
      {[](LimitRow& row) { row.limit = "fixed", row.service = ""; }, "does not say `rate: policies`"},
      {[](LimitRow& row) { row.service = ""; }, ""},
      {[](LimitRow& row) { row.service = "SUACE"; }, "there is no service 'SUACE'; did you mean 'SAUCE'?"},
      {[](LimitRow& row) { row.service = "OTHER"; }, "the limit does not act on the service 'OTHER'"},
      {[](LimitRow& row) { row.limit = "log"; }, "service: has no meaning: the limit does not count per service"},
      {[](LimitRow& row) { row.endpoint = "POST /product"; }, "did you mean 'POST /products'?"},
      {[](LimitRow& row) { row.limit = "log", row.service = "", row.endpoint = "GET /"; },
       "endpoint: has no meaning: the limit has no patterns"},
      {[](LimitRow& row) { row.burst = 4; }, "burst: 4 is below the cost 5 of one request"},
      {[](LimitRow& row) { row.rate = "4/s"; }, "rate: 4 is below the cost 5 of one request"},
      {[](LimitRow& row) { row.rate = "5/month"; }, "needs algorithm calendar"},
      {[](LimitRow& row) { row.rate = "5"; }, "'5' is not a rate such as 20/s"},
      {[](LimitRow& row) { row.algorithm = Algorithm::kSlidingLog; },
       "a row cannot change token_bucket into sliding_log"},
      {[](LimitRow& row) { row.limit = "log", row.service = "", row.algorithm = Algorithm::kTokenBucket; },
       "algorithm: the limit's sliding_log cannot be changed"},
      {[](LimitRow& row) { row.limit = "log", row.service = "", row.rate = "20000/s"; }, "at most 10000"},
      {[](LimitRow& row) { row.limit = "queue", row.service = "", row.burst = 5; }, "leaky_bucket and a queue"},
      {[](LimitRow& row) { row.limit = "queue", row.service = ""; }, ""},
      {[](LimitRow& row) { row.limit = "running", row.service = "", row.rate = "50"; }, ""},
      {[](LimitRow& row) { row.limit = "running", row.service = ""; }, "takes a number of requests such as 50"},
  };
  for (const Case& one : cases) {
    LimitRow row = good_limit();
    one.change(row);
    expect(faults_of(row, scopes()), one.says);
  }
}

TEST(ValidateTest, SaysWhatIsWrongWithOtherRows) {
  expect(faults_of(Row(Plan{})), "plan '': name: must not be empty");
  expect(faults_of(Row(Partner{})), "partner '': name: must not be empty");
  Key key = good_key();
  expect(faults_of(Row(key)), "");
  key.not_before = key.expires = WallTime(std::chrono::seconds(5));
  expect(faults_of(Row(key)), "key 'k': expires: is not after `not_before`");
  key = good_key();
  key.partner = "";
  expect(faults_of(Row(key)), "key 'k': partner: must not be empty");
  key = good_key();
  key.digest = {};
  expect(faults_of(Row(key)), "key 'k': key_sha256: is not the digest of any key");
}

TEST(ValidateTest, KnowsTheLimitsOfAConfiguration) {
  const Scopes found = scopes_of(config::load_good(R"(
listeners: [{address: 127.0.0.1:0}]
upstreams: {u: {url: "http://127.0.0.1:1"}}
services: {SAUCE: {upstream: u, paths: [/products]}, OTHER: {upstream: u, paths: [/other]}}
limits:
  - {name: a, per: [service], rate: 50/s, cost: 3, services: [SAUCE], match: [GET /products], algorithm: fixed_window}
  - {name: b, per: ["header:X-Who"], rate: 5/s, cost: {header: X-Cost, default: 2}}
)"));
  ASSERT_EQ(found.limits.size(), 2u);
  const LimitScope& a = found.limits[0];
  EXPECT_TRUE(a.per_service);
  EXPECT_EQ(a.algorithm, Algorithm::kFixedWindow);
  EXPECT_EQ(a.services, std::vector<std::string>{"SAUCE"});
  EXPECT_EQ(a.endpoints, std::vector<std::string>{"GET /products"});
  EXPECT_EQ(a.cost, 3);
  EXPECT_EQ(found.limits[1].services.size(), 2u);
  EXPECT_EQ(found.limits[1].cost, 2);
}

}  // namespace
}  // namespace weir::partners
