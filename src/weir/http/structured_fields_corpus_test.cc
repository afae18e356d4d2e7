// SPDX-License-Identifier: Apache-2.0
//
// The structured-field test suite of the HTTP working group.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "weir/http/corpora_for_tests.h"
#include "weir/http/structured_fields.h"

namespace weir::http::sf {
namespace {

using nlohmann::json;

std::string decode_base32(std::string_view text) {
  std::string octets;
  unsigned bits = 0;
  unsigned held = 0;
  for (char c : text) {
    if (c == '=') break;
    bits = (bits << 5U | static_cast<unsigned>(c >= 'A' ? c - 'A' : c - '2' + 26)) & 0xFFFFU;
    held += 5;
    if (held < 8) continue;
    held -= 8;
    octets += static_cast<char>(bits >> held & 0xFFU);
  }
  return octets;
}

BareItem bare_item(const json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number_float()) return Decimal::nearest(value.get<double>());
  if (value.is_string()) return value.get<std::string>();
  const std::string type = value["__type"];
  if (type == "date") return Date{value["value"].get<std::int64_t>()};
  const std::string content = value["value"];
  if (type == "token") return Token{content};
  if (type == "displaystring") return DisplayString{content};
  return Bytes{decode_base32(content)};
}

Parameters parameters(const json& value) {
  Parameters result;
  for (const json& pair : value) result.emplace_back(pair[0].get<std::string>(), bare_item(pair[1]));
  return result;
}

Item item(const json& value) { return {bare_item(value[0]), parameters(value[1])}; }

Member member(const json& value) {
  if (!value[0].is_array()) return item(value);
  InnerList list{{}, parameters(value[1])};
  for (const json& one : value[0]) list.items.push_back(item(one));
  return list;
}

List list(const json& value) {
  List result;
  for (const json& one : value) result.push_back(member(one));
  return result;
}

Dictionary dictionary(const json& value) {
  Dictionary result;
  for (const json& one : value) result.emplace_back(one[0].get<std::string>(), member(one[1]));
  return result;
}

std::string joined(const json& lines) {
  std::string text;
  for (const json& line : lines) {
    if (&line != &lines.front()) text += ", ";
    text += line.get<std::string>();
  }
  return text;
}

// Empty: the case holds.
template <class Value>
std::string check_parse(const json& test_case, const std::optional<Value>& parsed, Value (*make)(const json&)) {
  if (test_case.value("must_fail", false)) return parsed ? "should not parse" : "";
  if (!parsed) return test_case.value("can_fail", false) ? "" : "should parse";
  if (*parsed != make(test_case["expected"])) return "has another value";
  const std::string canonical = joined(test_case.contains("canonical") ? test_case["canonical"] : test_case["raw"]);
  return serialize(*parsed) == canonical ? "" : "is written as " + serialize(*parsed).value_or("nothing");
}

template <class Value>
std::string check_serialize(const json& test_case, const Value& value) {
  const auto text = serialize(value);
  if (test_case.value("must_fail", false)) return text ? "should not be written" : "";
  return text == joined(test_case["canonical"]) ? "" : "is written as " + text.value_or("nothing");
}

class StructuredFieldsCorpusTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(folder_)) GTEST_SKIP() << "no corpus at " << folder_;
  }

  template <class Check>
  int run(const std::filesystem::path& folder, Check check) {
    int cases = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".json") continue;
      for (const json& test_case : json::parse(read_file(entry.path()))) {
        ++cases;
        EXPECT_EQ(check(test_case), "") << entry.path().filename() << ": " << test_case["name"];
      }
    }
    return cases;
  }

  std::filesystem::path folder_ = corpora_beside(WEIR_SOURCE_DIR) / "structured-fields";
};

TEST_F(StructuredFieldsCorpusTest, EveryParseCaseHolds) {
  const int cases = run(folder_, [](const json& test_case) {
    const std::string text = joined(test_case["raw"]);
    const std::string type = test_case["header_type"];
    if (type == "item") return check_parse(test_case, parse_item(text), item);
    if (type == "list") return check_parse(test_case, parse_list(text), list);
    return check_parse(test_case, parse_dictionary(text), dictionary);
  });
  EXPECT_EQ(cases, 1591);
}

TEST_F(StructuredFieldsCorpusTest, EverySerialisationCaseHolds) {
  const int cases = run(folder_ / "serialisation", [](const json& test_case) {
    const std::string type = test_case["header_type"];
    if (type == "item") return check_serialize(test_case, item(test_case["expected"]));
    if (type == "list") return check_serialize(test_case, list(test_case["expected"]));
    return check_serialize(test_case, dictionary(test_case["expected"]));
  });
  EXPECT_EQ(cases, 544);
}

}  // namespace
}  // namespace weir::http::sf
