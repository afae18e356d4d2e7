// SPDX-License-Identifier: Apache-2.0
#include "weir/config/language/limit_types.h"

#include "weir/config/combine.h"
#include "weir/config/http_types.h"
#include "weir/config/object.h"
#include "weir/config/rate.h"
#include "weir/config/scalars.h"
#include "weir/config/time_zone.h"

namespace weir::config {
namespace {

// Both kinds of costs that a field tells, as the file has them.
struct FieldCost {
  std::string header;
  std::string response_header;
  std::int64_t fallback = HeaderCost{}.fallback;
  std::int64_t reserve = ResponseCost{}.reserve;
  std::int64_t max = 0;
};

void check_companion(Reader& reader, const Fields& fields, const std::string& key, const std::string& other,
                     const std::string& instead) {
  if (!fields.has(key) || !fields.has(other)) return;
  reader.report.error(fields.place(key), fmt::format("'{}' has no meaning beside '{}'", key, other), instead);
}

void check_field_cost(Reader& reader, const Fields& fields, FieldCost&) {
  if (fields.has("header") && fields.has("response_header")) return;  // which is meant is not known
  check_companion(reader, fields, "default", "response_header",
                  "`reserve` is taken before the answer; an answer without the field costs as much");
  check_companion(reader, fields, "reserve", "header", "`default` is the cost of a request without the field");
}

Type<FieldCost> field_cost() {
  Object<FieldCost> object("a cost");
  object.key("header", &FieldCost::header, header_name(), "The request field that has the cost.")
      .key("default", &FieldCost::fallback, units(), "With `header`: the cost without the field.")
      .key("response_header", &FieldCost::response_header, response_header_name(),
           "The field of the answer that has the cost.")
      .key("reserve", &FieldCost::reserve, units(),
           "With `response_header`: what is taken before the answer is there.")
      .key("max", &FieldCost::max, no_default(number<std::int64_t>(1, kMostUnits)),
           "The largest cost that is believed. Default: what the limit admits at once.")
      .exactly_one({"header", "response_header"})
      .check(check_field_cost);
  return object;
}

bool to_cost(Reader&, const Node&, FieldCost&& keys, Cost& out) {
  if (keys.response_header.empty()) {
    out = HeaderCost{std::move(keys.header), keys.fallback, keys.max};
  } else {
    out = ResponseCost{std::move(keys.response_header), keys.reserve, keys.max};
  }
  return true;
}

// `401`, or the class `4xx`.
Parsed<StatusRange> parse_status(std::string_view text) {
  if (text.size() == 3 && text[0] >= '1' && text[0] <= '5' && text.substr(1) == "xx") {
    const int first = (text[0] - '0') * 100;
    return StatusRange{first, first + 99};
  }
  const auto code = parse_digits(text, 599);
  if (code && *code >= 100) return StatusRange{static_cast<int>(*code), static_cast<int>(*code)};
  const std::string lower = lower_case(text);
  return fault(fmt::format("'{}' is not a status from 100 to 599, or a class such as 5xx", text),
               lower != text && parse_status(lower) ? fmt::format("did you mean '{}'?", lower) : "");
}

Type<StatusRange> status() {
  Json schema{{"type", Json::array({"integer", "string"})},
              {"minimum", 100},
              {"maximum", 599},
              {"pattern", "^0*[1-5]([0-9][0-9]|xx)$"}};
  return scalar<StatusRange>("a status such as 401 or 5xx", std::move(schema), parse_status);
}

Type<std::chrono::weekday> weekday() {
  using std::chrono::weekday;
  return choice<weekday>("week_starts", {{"monday", std::chrono::Monday},
                                         {"tuesday", std::chrono::Tuesday},
                                         {"wednesday", std::chrono::Wednesday},
                                         {"thursday", std::chrono::Thursday},
                                         {"friday", std::chrono::Friday},
                                         {"saturday", std::chrono::Saturday},
                                         {"sunday", std::chrono::Sunday}});
}

}  // namespace

namespace {

bool has(const CountedAnswers& counted, int status) {
  return std::ranges::any_of(
      counted.statuses, [status](const StatusRange& range) { return range.first <= status && status <= range.last; });
}

// Answers have 200 to 599; what comes before them is none.
void check_counted(Reader& reader, const Place& place, const CountedAnswers& counted) {
  int named = 0;
  for (int status = 200; status < 600; ++status) named += has(counted, status) ? 1 : 0;
  if (counted.rule == CountedAnswers::Rule::kOnly && named == 0) {
    reader.report.error(place, "no answer has one of these codes, so this limit could never act");
  } else if (counted.rule == CountedAnswers::Rule::kAllBut && named == 400) {
    reader.report.error(place, "every answer is given back, so this limit could never act");
  }
}

}  // namespace

Type<std::int64_t> units() { return number<std::int64_t>(0, kMostUnits); }

Type<std::int64_t> places() { return number<std::int64_t>(0, kMostPlaces); }

Type<Cost> cost() {
  Type<std::int64_t> fixed = number<std::int64_t>(1, kMostUnits);
  return scalar_or_map<Cost>(as<Cost>(std::move(fixed)), turned<Cost>(field_cost(), to_cost));
}

Type<CivilCalendar> civil_calendar() {
  Object<CivilCalendar> object("a calendar");
  object.key("zone", &CivilCalendar::zone, time_zone(), "The time zone whose days are counted.")
      .key("anchor_day", &CivilCalendar::anchor_day, number<int>(1, 31),
           "The day on which a month begins, or its last day if it has fewer.")
      .key("week_starts", &CivilCalendar::week_starts, weekday(), "The day on which a week begins.");
  return object;
}

Type<CountedAnswers> answers(const std::string& name, CountedAnswers::Rule rule) {
  Object<CountedAnswers> object("`" + name + "`");
  object
      .required("status", &CountedAnswers::statuses, list_of(status(), 1),
                "Status codes, or classes of them such as 5xx.")
      .check([rule](Reader& reader, const Fields& fields, CountedAnswers& counted) {
        counted.rule = rule;
        if (fields.readable("status")) check_counted(reader, fields.place("status"), counted);
      });
  return object;
}

}  // namespace weir::config
