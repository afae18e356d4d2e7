// SPDX-License-Identifier: Apache-2.0
#include "weir/config/scalars.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "weir/config/near_word.h"

namespace weir::config {
namespace {

struct Unit {
  std::string_view word;
  std::int64_t length;  // nanoseconds or bytes
};

constexpr std::array kTimeUnits{Unit{"day", 86'400'000'000'000}, Unit{"h", 3'600'000'000'000},
                                Unit{"min", 60'000'000'000}, Unit{"s", 1'000'000'000}, Unit{"ms", 1'000'000}};
constexpr std::array kSizeUnits{Unit{"GiB", 1 << 30}, Unit{"MiB", 1 << 20}, Unit{"KiB", 1 << 10}, Unit{"B", 1}};

// What other tools call our units.
constexpr std::array<std::array<std::string_view, 2>, 15> kUsualNames{{{"sec", "s"},
                                                                       {"secs", "s"},
                                                                       {"second", "s"},
                                                                       {"seconds", "s"},
                                                                       {"m", "min"},
                                                                       {"mins", "min"},
                                                                       {"minute", "min"},
                                                                       {"minutes", "min"},
                                                                       {"hr", "h"},
                                                                       {"hour", "h"},
                                                                       {"hours", "h"},
                                                                       {"d", "day"},
                                                                       {"days", "day"},
                                                                       {"w", "week"},
                                                                       {"weeks", "week"}}};

std::pair<std::string_view, std::string_view> split_unit(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  return {text.substr(0, digits), text.substr(digits)};
}

const Unit* find_unit(std::span<const Unit> units, std::string_view word) {
  const auto found = std::ranges::find(units, word, &Unit::word);
  return found == units.end() ? nullptr : &*found;
}

// Absent where the text is malformed or the product leaves 63 bits.
std::optional<std::int64_t> times(std::string_view digits, std::int64_t length) {
  const auto count = parse_digits(digits, INT64_MAX);
  std::int64_t product = 0;
  if (!count || __builtin_mul_overflow(static_cast<std::int64_t>(*count), length, &product)) return std::nullopt;
  return product;
}

// Our unit for a usual name of it or for a slip; "" for none.
std::string near_unit(std::string_view word) {
  const std::string_view unit = word.substr(std::min(word.find_first_not_of(' '), word.size()));
  const auto usual = std::ranges::find(kUsualNames, unit, [](const auto& pair) { return pair[0]; });
  if (usual != kUsualNames.end()) return std::string((*usual)[1]);
  const std::array<std::string_view, 8> known{"ms", "s", "min", "h", "day", "week", "month", "year"};
  const auto near =
      std::ranges::find_if(known, [&](auto k) { return edit_distance(unit, k) <= (k.size() > 2 ? 1 : 0); });
  return near == known.end() ? std::string() : std::string(*near);
}

std::string size_suggestion(std::string_view digits, std::string_view word) {
  const std::string_view unit = word.substr(std::min(word.find_first_not_of(' '), word.size()));
  const char first = unit.empty() ? ' ' : static_cast<char>(unit[0] | 0x20);
  for (const Unit& known : kSizeUnits) {
    if (first == (known.word[0] | 0x20)) return fmt::format("did you mean '{}{}'?", digits, known.word);
  }
  return "the units are B, KiB, MiB and GiB";
}

}  // namespace

std::optional<std::uint64_t> parse_digits(std::string_view text, std::uint64_t max) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || value > max) return std::nullopt;
  return value;
}

std::optional<nanoseconds> unit_length(std::string_view unit) {
  const Unit* found = find_unit(kTimeUnits, unit);
  return found == nullptr ? std::nullopt : std::optional(nanoseconds(found->length));
}

std::string unit_suggestion(std::string_view before, std::string_view unit) {
  const std::string near = near_unit(unit);
  return near.empty() ? near : fmt::format("did you mean '{}{}'?", before, near);
}

Parsed<nanoseconds> parse_duration(std::string_view text) {
  const auto [digits, word] = split_unit(text);
  const Unit* unit = find_unit(kTimeUnits, word);
  if (digits.empty() || unit == nullptr) {
    const std::string hint = digits.empty() ? std::string() : unit_suggestion(digits, word);
    return fault(fmt::format("'{}' is not a duration such as 250ms, 5s, 2min, 1h or 1day", text), hint);
  }
  const auto value = times(digits, unit->length);
  if (!value) return fault(fmt::format("'{}' is too long", text));
  return nanoseconds(*value);
}

std::string duration_text(nanoseconds value) {
  const std::int64_t count = value.count();
  for (const Unit& unit : kTimeUnits) {
    if (count != 0 && count % unit.length == 0) return fmt::format("{}{}", count / unit.length, unit.word);
  }
  return count == 0 ? "0s" : fmt::format("{}ns", count);
}

Parsed<std::uint64_t> parse_size(std::string_view text) {
  const auto [digits, word] = split_unit(text);
  const Unit* unit = find_unit(kSizeUnits, word.empty() ? "B" : word);
  if (digits.empty()) return fault(fmt::format("'{}' is not a size such as 64KiB", text));
  if (unit == nullptr)
    return fault(fmt::format("'{}' is not a size such as 64KiB", text), size_suggestion(digits, word));
  const auto value = times(digits, unit->length);
  if (!value) return fault(fmt::format("'{}' is too large", text));
  return static_cast<std::uint64_t>(*value);
}

std::string size_text(std::uint64_t bytes) {
  for (const Unit& unit : kSizeUnits) {
    const auto length = static_cast<std::uint64_t>(unit.length);
    if (length > 1 && bytes != 0 && bytes % length == 0) return fmt::format("{}{}", bytes / length, unit.word);
  }
  return fmt::format("{}", bytes);
}

Parsed<std::string> parse_name(std::string_view text) {
  if (text.empty()) return fault("a name must not be empty");
  if (text.size() > 128) return fault(fmt::format("a name has at most 128 characters, this one {}", text.size()));
  const bool printable = std::ranges::all_of(text, [](char c) { return c >= 0x20 && c <= 0x7e; });
  if (!printable) return fault("a name consists of printable ASCII characters, because it appears in header fields");
  return std::string(text);
}

Parsed<std::uint64_t> parse_number(std::string_view text, std::uint64_t least, std::uint64_t most) {
  if (text.empty() || text.find_first_not_of("0123456789") != text.npos) {
    return fault(fmt::format("'{}' is not a whole number from {} to {}", text, least, most));
  }
  const auto value = parse_digits(text, most);
  if (!value || *value < least) return fault(fmt::format("{} is not from {} to {}", text, least, most));
  return *value;
}

Type<bool> boolean() {
  const auto parse = [](std::string_view text) -> Parsed<bool> {
    if (text == "true" || text == "false") return text == "true";
    const bool yes = text == "yes" || text == "on" || text == "True" || text == "TRUE";
    const bool no = text == "no" || text == "off" || text == "False" || text == "FALSE";
    return fault(fmt::format("'{}' is not true or false", text), yes  ? "did you mean 'true'?"
                                                                 : no ? "did you mean 'false'?"
                                                                      : "");
  };
  Type<bool> type = unquoted("true or false", scalar<bool>("true or false", {{"type", "boolean"}}, parse));
  type.show = [](const bool& value) { return Json(value); };
  return type;
}

Type<nanoseconds> duration(nanoseconds least, nanoseconds most) {
  const auto parse = [least, most](std::string_view text) -> Parsed<nanoseconds> {
    const auto value = parse_duration(text);
    if (!value || (*value >= least && *value <= most)) return value;
    return fault(fmt::format("'{}' is not from {} to {}", text, duration_text(least), duration_text(most)));
  };
  Json schema{{"type", "string"}, {"pattern", "^[0-9]+(ms|s|min|h|day)$"}};
  Type<nanoseconds> type = scalar<nanoseconds>("a duration such as '5s'", std::move(schema), parse);
  type.show = [](const nanoseconds& value) { return Json(duration_text(value)); };
  return type;
}

Type<std::string> text(std::size_t longest) {
  const auto parse = [longest](std::string_view text) -> Parsed<std::string> {
    if (text.empty()) return fault("the text is empty");
    if (text.size() > longest)
      return fault(fmt::format("the text has {} bytes; {} are allowed", text.size(), longest));
    const bool control = std::ranges::any_of(text, [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; });
    if (control) return fault("the text has a control character or a line break");
    return std::string(text);
  };
  Json schema{{"type", Json::array({"string", "number", "boolean"})}, {"minLength", 1}};
  Type<std::string> type = scalar<std::string>("a text", std::move(schema), parse);
  type.show = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
  return type;
}

Type<std::string> text(std::string expected, std::string pattern, Parsed<std::string> (*parse)(std::string_view)) {
  Json schema{{"type", Json::array({"string", "number", "boolean"})}, {"pattern", std::move(pattern)}};
  Type<std::string> type = scalar<std::string>(std::move(expected), std::move(schema), parse);
  type.show = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
  return type;
}

Type<std::string> name() { return text("a name", kNamePattern, parse_name); }

Parsed<std::size_t> parse_choice(std::string_view text, const std::string& subject,
                                 const std::vector<std::string>& words, const std::vector<LaterWord>& later) {
  const auto found = std::ranges::find(words, text);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  const auto known = std::ranges::find(later, text, &LaterWord::word);
  if (known != later.end()) return not_available(fmt::format("{} '{}'", subject, text), known->meaning);
  std::vector<std::string> all = words;
  for (const LaterWord& word : later) all.push_back(word.word);
  return fault(fmt::format("{} '{}' is not known; use {}", subject, text, fmt::join(words, ", ")),
               did_you_mean(text, all));
}

}  // namespace weir::config
