// SPDX-License-Identifier: Apache-2.0
//
// The scalars of the configuration language: truth values, numbers, words, names, durations, sizes.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "weir/config/type.h"

namespace weir::config {

using std::chrono::nanoseconds;

// Digits only, at most `max`; no sign, no spaces.
std::optional<std::uint64_t> parse_digits(std::string_view text, std::uint64_t max = UINT64_MAX);

// A number and a unit: ms, s, min, h, day.
Parsed<nanoseconds> parse_duration(std::string_view text);
// In the largest unit that needs no fraction, as the file would have it.
std::string duration_text(nanoseconds value);
// The length of one unit of time; absent for a word that is none.
std::optional<nanoseconds> unit_length(std::string_view unit);
// "did you mean '5min'?" where the word is nearly a unit of time, or a usual name of one.
std::string unit_suggestion(std::string_view before, std::string_view unit);

// A number and a unit: B, KiB, MiB, GiB; without a unit, bytes.
Parsed<std::uint64_t> parse_size(std::string_view text);
std::string size_text(std::uint64_t bytes);

// Names that are printed in header fields, metrics and logs: 1 to 128 printable ASCII characters.
inline constexpr const char* kNamePattern = "^[\\x20-\\x7E]{1,128}$";
Parsed<std::string> parse_name(std::string_view text);

// The number in range, or the fault to report.
Parsed<std::uint64_t> parse_number(std::string_view text, std::uint64_t least, std::uint64_t most);

// A scalar that must stand without quotes.
template <class T>
Type<T> unquoted(std::string expected, Type<T> type) {
  type.read = [expected = std::move(expected), read = std::move(type.read)](Reader& reader, const Node& node,
                                                                            T& out) {
    return node.quoted ? report_mismatch(reader, node, expected) : read(reader, node, out);
  };
  return type;
}

Type<bool> boolean();

template <std::integral I>
Type<I> number(std::type_identity_t<I> least, std::type_identity_t<I> most) {
  const auto parse = [least, most](std::string_view text) -> Parsed<I> {
    const auto value = parse_number(text, static_cast<std::uint64_t>(least), static_cast<std::uint64_t>(most));
    return then(value, [](std::uint64_t number) { return static_cast<I>(number); });
  };
  const std::string expected = "a whole number";
  Json schema{{"type", "integer"}, {"minimum", least}, {"maximum", most}};
  Type<I> type = unquoted(expected, scalar<I>(expected, std::move(schema), parse));
  type.show = [](const I& value) { return Json(value); };
  return type;
}

// A length of time from `least` to `most`.
Type<nanoseconds> duration(nanoseconds least, nanoseconds most);

// A number of bytes.
template <std::unsigned_integral I>
Type<I> size(std::type_identity_t<I> least, std::type_identity_t<I> most) {
  const auto parse = [least, most](std::string_view text) -> Parsed<I> {
    const auto value = parse_size(text);
    if (!value) return std::unexpected(value.error());
    if (*value >= least && *value <= most) return static_cast<I>(*value);
    return fault(fmt::format("'{}' is not from {} to {}", text, size_text(least), size_text(most)));
  };
  Json schema{{"type", Json::array({"integer", "string"})}, {"minimum", 0}, {"pattern", "^[0-9]+(B|KiB|MiB|GiB)?$"}};
  Type<I> type = scalar<I>("a size such as '64KiB'", std::move(schema), parse);
  type.show = [](const I& value) { return Json(size_text(value)); };
  return type;
}

// Any text of 1 to `longest` bytes without control characters.
Type<std::string> text(std::size_t longest = 4096);
// A text that `parse` understands; the pattern is for editors.
Type<std::string> text(std::string expected, std::string pattern, Parsed<std::string> (*parse)(std::string_view));
Type<std::string> name();

// What nobody who reads reports may see.
template <class T>
Type<T> secret(Type<T> type) {
  type.read = [read = std::move(type.read)](Reader& reader, const Node& node, T& out) {
    reader.report.hide(node.place.line, node.text);
    return read(reader, node, out);
  };
  return type;
}

// The word of a fixed set, or the fault to report. `later`: words of the language that this version does not act on.
struct LaterWord {
  std::string word;
  std::string meaning;
};
Parsed<std::size_t> parse_choice(std::string_view text, const std::string& subject,
                                 const std::vector<std::string>& words, const std::vector<LaterWord>& later);

template <class E>
struct Word {
  std::string word;
  E value;
};

// One word of a fixed set. `subject` reads as in "algorithm 'gcra' is not known".
template <class E>
Type<E> choice(const std::string& subject, std::vector<Word<E>> words, std::vector<LaterWord> later = {}) {
  std::vector<std::string> texts;
  for (const Word<E>& word : words) texts.push_back(word.word);
  Json schema{{"enum", texts}};
  auto parse = [subject, words, texts, later = std::move(later)](std::string_view text) -> Parsed<E> {
    return then(parse_choice(text, subject, texts, later), [&](std::size_t i) { return words[i].value; });
  };
  Type<E> type = scalar<E>("one word (" + subject + ")", std::move(schema), std::move(parse));
  type.show = [words = std::move(words)](const E& value) {
    const auto found = std::ranges::find(words, value, &Word<E>::value);
    return found == words.end() ? Json() : Json(found->word);
  };
  return type;
}

}  // namespace weir::config
