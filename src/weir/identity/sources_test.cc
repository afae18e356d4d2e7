// SPDX-License-Identifier: Apache-2.0
#include "weir/identity/sources.h"

#include <gtest/gtest.h>

#include "weir/identity/testing/parsed_request.h"

namespace weir::identity {
namespace {

using testing::ParsedRequest;

std::string show(const Single& found) {
  if (found.twice) return "twice";
  return found.present ? "=" + std::string(found.value) : "absent";
}

TEST(SourcesTest, AQueryParameterIsFoundByItsExactDecodedName) {
  const struct {
    std::string_view query, name, found;
  } kRows[] = {
      {"", "a", "absent"},
      {"?", "a", "absent"},
      {"?a=1", "a", "=1"},
      {"?a", "a", "="},
      {"?a=", "a", "="},
      {"?b=2&a=1", "a", "=1"},
      {"?&&a=1&&", "a", "=1"},
      {"?A=1", "a", "absent"},
      {"?ab=1", "a", "absent"},
      {"?a=1=2", "a", "=1=2"},
      {"?a=1;b=2", "a", "=1;b=2"},
      {"?%61=1", "a", "=1"},
      {"?a=%31%2B+%26", "a", "=1+ &"},
      {"?a+b=1", "a b", "=1"},
      {"?a%20b=1", "a b", "=1"},
      {"?a%2Bb=1", "a+b", "=1"},
      {"?%2561=1", "a", "absent"},
      {"?a=%2531", "a", "=%31"},
      {"?a=%zz%4", "a", "=%zz%4"},
      {"?%zz=1", "%zz", "=1"},
      {"?a=1&a=1", "a", "twice"},
      {"?a=1&%61=2", "a", "twice"},
      {"?a&a", "a", "twice"},
      {"?=1", "", "=1"},
  };
  for (const auto& row : kRows) {
    std::string room;
    room.reserve(row.query.size());
    EXPECT_EQ(show(find_query(row.query, row.name, room)), row.found) << row.query;
  }
}

TEST(SourcesTest, TheFirstCookieWithTheNameCounts) {
  const ParsedRequest request("GET /", {"Cookie: a=1; b=\"2\";c=3 ; a=4", "cookie: d=5; b=6; flag; =7"});
  const struct {
    std::string_view name, found;
  } kRows[] = {{"a", "=1"},     {"b", "=\"2\""}, {"c", "=3"},    {"d", "=5"},
               {"A", "absent"}, {"flag", "="},   {"e", "absent"}};
  for (const auto& row : kRows) EXPECT_EQ(show(find_cookie(request.head(), row.name)), row.found) << row.name;
  EXPECT_EQ(show(find_cookie(ParsedRequest("GET /").head(), "a")), "absent");
}

TEST(SourcesTest, FieldsAreFoundWithoutCase) {
  const ParsedRequest request("GET /", {"X-Tenant:  one ", "x-twice: 1", "X-Twice: 1", "Date: today"});
  EXPECT_EQ(show(find_field(request.head(), FieldName("x-tenant"))), "=one");
  EXPECT_EQ(show(find_field(request.head(), FieldName("X-TWICE"))), "twice");
  EXPECT_EQ(show(find_field(request.head(), FieldName("date"))), "=today");
  EXPECT_EQ(show(find_field(request.head(), FieldName("X-Tenan"))), "absent");
  EXPECT_EQ(show(find_field(request.head(), FieldName("Cookie"))), "absent");
}

}  // namespace
}  // namespace weir::identity
