// SPDX-License-Identifier: Apache-2.0
#include "weir/lookup/record_text.h"

#include <gtest/gtest.h>

#include "weir/lookup/testing/shared_source.h"
#include "weir/partners/digest.h"

namespace weir::lookup {
namespace {

partners::Key key() {
  partners::Key made;
  made.id = "key_1";
  made.digest = partners::digest_of("secret");
  made.partner = "acme";
  made.expires = WallTime(std::chrono::seconds(1'900'000'000));
  return made;
}

partners::PlanRecord plan() {
  partners::PlanRecord made;
  made.plan.name = "gold";
  partners::LimitRow row;
  row.limit = "rows";
  row.owner = {partners::OwnerKind::kPlan, "gold"};
  row.service = "SAUCE_SERVICE";
  row.endpoint = "POST /products";
  row.algorithm = config::Algorithm::kFixedWindow;
  row.rate = "20/s";
  row.mode = config::Mode::kShadow;
  made.limits = {row, row};
  return made;
}

TEST(RecordTextTest, EveryKindOfRecordComesBackAsItWas) {
  const WallTime at(std::chrono::milliseconds(1'796'000'000'123));
  for (const partners::Record& record :
       {partners::Record(), partners::Record(key()), testing::record("acme \"quoted\" \xC3\xA9", "gold", 3),
        partners::Record(plan())}) {
    const auto back = said_of(text_of({.record = record, .revision = 42, .at = at}));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->record, record);
    EXPECT_EQ(back->revision, 42);
    EXPECT_EQ(back->at, at);
  }
}

TEST(RecordTextTest, WhatCannotBeReadIsNotThere) {
  for (const char* text :
       {"", "null", "[]", "{}", R"({"revision":1,"at":0})", R"({"revision":"1","at":0,"absent":true})",
        R"({"revision":1,"at":0,"partner":{"nome":"acme"}})", R"({"revision":1,"at":0,"key":7})",
        R"({"revision":1,"at":0,"absent":true)"}) {
    EXPECT_FALSE(said_of(text)) << text;
  }
}

TEST(RecordTextTest, SubjectsHaveNames) {
  const partners::Subject of_key = partners::subject_of(partners::digest_of("secret"));
  EXPECT_EQ(name_of(testing::partner("acme: one")), "partner:acme: one");
  EXPECT_EQ(name_of(of_key).size(), 4U + 64U);
  for (const partners::Subject& subject : {testing::partner("acme: one"), testing::plan("gold"), of_key}) {
    EXPECT_EQ(subject_of(name_of(subject)), subject);
  }
  for (const char* name : {"", "partner", "nobody:acme", "key:abc"}) EXPECT_FALSE(subject_of(name)) << name;
}

}  // namespace
}  // namespace weir::lookup
