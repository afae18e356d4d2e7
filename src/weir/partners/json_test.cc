// SPDX-License-Identifier: Apache-2.0
//
// Rows as JSON and YAML, and moments and digests as text.
#include "weir/partners/json.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "weir/config/load_for_test.h"
#include "weir/partners/digest.h"
#include "weir/partners/document.h"
#include "weir/partners/time_text.h"

namespace weir::partners {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

std::vector<Row> rows() {
  const Stamp stamp{7, WallTime(nanoseconds(1'796'000'000'123'456'789)), "me@here"};
  LimitRow full;
  full.limit = "partner-service";
  full.owner = {OwnerKind::kPartner, "acme: \"x\" ${HOME} $${A}"};
  full.service = "SAUCE";
  full.endpoint = "GET /products/{id}";
  full.algorithm = config::Algorithm::kCalendar;
  full.rate = "1000/month";
  full.burst = std::numeric_limits<std::int64_t>::max();
  full.mode = config::Mode::kShadow;
  full.note = "# not a comment";
  full.stamp = stamp;
  LimitRow least;
  least.limit = "a";
  least.owner = {OwnerKind::kPlan, "true"};
  least.rate = "50";
  Key key{.id = "0123",
          .digest = digest_of("x"),
          .partner = "null",
          .plan = "góld 🦀",
          .enabled = false,
          .not_before = WallTime(seconds(1)),
          .expires = stamp.changed_at,
          .note = "- a",
          .stamp = stamp};
  return {Plan{.name = "góld 🦀", .note = "it's \\ \"this\"", .stamp = stamp},
          Plan{.name = "1e3", .note = "", .stamp = {}},
          Partner{.name = "no", .plan = "", .enabled = true, .note = "", .stamp = {}},
          key,
          full,
          least};
}

TEST(JsonTest, GivesRowsBackExactly) {
  for (const Row& row : rows()) {
    const Json json = Json::parse(compact(to_json(row)));
    const auto read = row_from_json(kind_of(row), json);
    ASSERT_TRUE(read.has_value()) << to_text(read.error());
    EXPECT_EQ(*read, row) << json;
  }
}

TEST(JsonTest, NamesEveryFieldThatCannotBeRead) {
  const Json json =
      Json::parse(R"({"limit": "a", "partner": "b", "plan": "c", "rate": 5, "burst": "6", "mode": "shadw",
                                    "algorithm": "gcra", "brust": 1, "changed_at": "now"})");
  const auto read = row_from_json(RowKind::kLimit, json);
  ASSERT_FALSE(read.has_value());
  std::vector<std::string> fields;
  for (const Fault& fault : read.error()) fields.push_back(fault.field);
  EXPECT_EQ(fields,
            (std::vector<std::string>{"partner", "algorithm", "rate", "burst", "mode", "changed_at", "brust"}));
  EXPECT_EQ(read.error()[4].message, "'shadw' is not known; use enforce, shadow; did you mean 'shadow'?");
  EXPECT_EQ(row_from_json(RowKind::kPlan, Json::object()).error().at(0).row, "a plan without a name");
  EXPECT_EQ(row_from_json(RowKind::kPlan, Json::array()).error().at(0).message, "is not an object with fields");
}

TEST(YamlTest, GivesRowsBackExactlyButForTheirStamps) {
  const std::string text = to_yaml(rows());
  const auto document = parse_document(text, "rows.yaml", config::no_environment);
  ASSERT_TRUE(document.has_value()) << text << config::to_text(document.error().at(0));
  ASSERT_EQ(document->rows.size(), rows().size());
  for (std::size_t i = 0; i < rows().size(); ++i) EXPECT_TRUE(same_content(document->rows[i], rows()[i])) << text;
  EXPECT_EQ(to_yaml(document->rows), text);
  EXPECT_TRUE(parse_document(to_yaml({}), "rows.yaml", config::no_environment)->rows.empty());
  EXPECT_TRUE(parse_document("", "rows.yaml", config::no_environment)->rows.empty());
}

TEST(YamlTest, SaysEveryFaultWithItsLine) {
  const auto document = parse_document(
      "plans:\n  - {name: a}\n  - {name: a}\nlimts: []\npartners:\n  - {name: b,\n     "
      "enabled: maybe}\nkeys: 5\n",
      "rows.yaml", config::no_environment);
  ASSERT_FALSE(document.has_value());
  std::string all;
  for (const auto& one : document.error()) all += std::to_string(one.line) + " " + one.message + "\n";
  EXPECT_EQ(all,
            "3 plan 'a' is in line 2 already\n4 'limts' is none of plans, partners, keys and limits\n"
            "7 partner 'b': enabled: is not true or false\n8 keys are a list\n");
}

TEST(YamlTest, FindsThePlaceOfAFault) {
  const auto document =
      parse_document("partners:\n  - name: b\n    plan: none\n", "rows.yaml", config::no_environment);
  ASSERT_TRUE(document.has_value());
  const auto found = diagnostics_of(*document, {{"partner 'b'", "plan", "x"}, {"partner 'b'", "enabled", "y"}});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].line, 2);
  EXPECT_EQ(found[1].line, 3);
}

TEST(TimeTextTest, ReadsWhatItWrites) {
  for (const std::int64_t time : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1'796'000'000'123'456'789},
                                  std::int64_t{951'782'400'000'000'000}, std::int64_t{500'000'000}}) {
    const WallTime moment{nanoseconds(time)};
    EXPECT_EQ(parse_time(time_text(moment)), moment) << time_text(moment);
  }
  EXPECT_EQ(time_text(WallTime(seconds(951'782'400))), "2000-02-29T00:00:00Z");
}

TEST(TimeTextTest, TakesOffsetsAndDatesAndNothingMalformed) {
  EXPECT_EQ(parse_time("1970-01-01T02:00:00+02:00"), WallTime{});
  EXPECT_EQ(parse_time("1970-01-02"), WallTime(std::chrono::days(1)));
  EXPECT_EQ(parse_time("1970-01-01 00:00:00.5z"), WallTime(nanoseconds(500'000'000)));
  for (const char* text : {"", "tomorrow", "2027-02-30", "2027-13-01", "2027-1-1", "2027-01-01T24:00:00Z",
                           "2027-01-01T00:00:00", "2027-01-01T00:00:00.Z", "2027-01-01T00:00:00.1234567890Z",
                           "2027-01-01T00:00:00Zx", "1969-12-31", "9999-01-01", "2027-01-01T00:00Z"}) {
    EXPECT_FALSE(parse_time(text).has_value()) << text;
  }
}

TEST(DigestTest, IsSha256InLowerCaseHex) {
  EXPECT_EQ(hex(digest_of("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(parse_hex(hex(digest_of("abc"))), digest_of("abc"));
  EXPECT_FALSE(parse_hex("BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD").has_value());
  EXPECT_FALSE(parse_hex("ba78").has_value());
  EXPECT_NE(random_key(), random_key());
  EXPECT_EQ(random_key().size(), 48u);
  EXPECT_EQ(random_id().size(), 32u);
}

}  // namespace
}  // namespace weir::partners
