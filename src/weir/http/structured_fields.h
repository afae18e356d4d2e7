// SPDX-License-Identifier: Apache-2.0
//
// Structured Field Values for HTTP (RFC 9651): Lists of Items with Parameters, Inner Lists, Dictionaries and
// single Items; parser and serialiser. Used where fields of an upstream are merged with our own, never on the path
// of requests that carry none. Thread safety: pure functions on values.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace weir::http::sf {

struct Token {
  std::string text;
  bool operator==(const Token&) const = default;
};
struct Bytes {
  std::string octets;
  bool operator==(const Bytes&) const = default;
};
struct Decimal {
  std::int64_t thousandths = 0;

  // The nearest one, halves to even (section 4.1.5). What is too large to be written stays too large.
  static Decimal nearest(double value);
  bool operator==(const Decimal&) const = default;
};
struct Date {
  std::int64_t epoch_seconds = 0;
  bool operator==(const Date&) const = default;
};
struct DisplayString {
  std::string utf8;
  bool operator==(const DisplayString&) const = default;
};

using BareItem = std::variant<std::int64_t, Decimal, std::string, Token, Bytes, bool, Date, DisplayString>;
using Parameters = std::vector<std::pair<std::string, BareItem>>;  // unique keys, in order of their first appearance

struct Item {
  BareItem value;
  Parameters parameters;
  bool operator==(const Item&) const = default;

  // The parameter's value, or null.
  const BareItem* parameter(std::string_view key) const;
};
struct InnerList {
  std::vector<Item> items;
  Parameters parameters;
  bool operator==(const InnerList&) const = default;
};
using Member = std::variant<Item, InnerList>;
using List = std::vector<Member>;
using Dictionary = std::vector<std::pair<std::string, Member>>;

// Field lines that were sent apart are joined with ", " by the caller. Absent: the field does not parse and counts
// as if it were not there (RFC 9651 section 4.2).
std::optional<List> parse_list(std::string_view text);
std::optional<Dictionary> parse_dictionary(std::string_view text);
std::optional<Item> parse_item(std::string_view text);

// Absent: the value cannot be written (RFC 9651 section 4.1). An empty List or Dictionary gives "".
std::optional<std::string> serialize(const List& list);
std::optional<std::string> serialize(const Dictionary& dictionary);
std::optional<std::string> serialize(const Item& item);

}  // namespace weir::http::sf
