// SPDX-License-Identifier: Apache-2.0
//
// A type of the configuration language: one value from which both the reader and the JSON Schema come.
// See combine.h and object.h for types that are made of others.
// Thread safety: immutable after it was made.
#pragma once

#include <fmt/format.h>

#include <expected>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/config/reader.h"

namespace weir::config {

using Json = nlohmann::ordered_json;

template <class T>
struct Type {
  // False after the fault was reported; the value may then be half read.
  std::function<bool(Reader&, const Node&, T&)> read;
  Json schema;
  // The value as the file would have it, for `default` in the schema; null where there is nothing to show.
  std::function<Json(const T&)> show = [](const T&) { return Json(); };
};

// Why a text is not a value.
struct Fault {
  std::string message;
  std::string suggestion;
  std::string unavailable_meaning;  // not empty: `message` is a subject that this version does not act on
};

template <class T>
using Parsed = std::expected<T, Fault>;

inline std::unexpected<Fault> fault(std::string message, std::string suggestion = {}) {
  return std::unexpected(Fault{std::move(message), std::move(suggestion), {}});
}
inline std::unexpected<Fault> not_available(std::string subject, std::string meaning) {
  return std::unexpected(Fault{std::move(subject), {}, std::move(meaning)});
}

// The parsed value turned into another one.
template <class T, class Turn>
auto then(const Parsed<T>& parsed, Turn turn) -> Parsed<decltype(turn(*parsed))> {
  if (!parsed) return std::unexpected(parsed.error());
  return turn(*parsed);
}

// Either of two schemas.
inline Json any_of(Json a, Json b) { return {{"anyOf", Json::array({std::move(a), std::move(b)})}}; }

// The schema of a scalar, which may also come from the environment.
inline Json or_environment(Json schema) { return any_of(std::move(schema), {{"$ref", "#/definitions/environment"}}); }

bool report_fault(Reader& reader, const Place& place, const Fault& fault);
// Silent where the fault of the node was reported already.
bool report_mismatch(Reader& reader, const Node& node, std::string_view expected);

// A scalar that `parse` understands. `expected` reads as in "expected a duration such as '5s'".
template <class T, class Parse>
Type<T> scalar(std::string expected, Json schema, Parse parse) {
  return {.read =
              [expected = std::move(expected), parse = std::move(parse)](Reader& reader, const Node& node, T& out) {
                if (node.kind != Node::Kind::kText) return report_mismatch(reader, node, expected);
                Parsed<T> parsed = parse(std::string_view(node.text));
                if (!parsed) return report_fault(reader, node.place, parsed.error());
                out = *std::move(parsed);
                return true;
              },
          .schema = or_environment(std::move(schema))};
}

// A T where a wider type is kept: an optional, or a variant with T in it.
template <class Wide, class T>
Type<Wide> as(Type<T> type) {
  return {.read =
              [read = std::move(type.read)](Reader& reader, const Node& node, Wide& out) {
                T value{};
                const bool good = read(reader, node, value);
                out = std::move(value);
                return good;
              },
          .schema = std::move(type.schema),
          .show =
              [show = std::move(type.show)](const Wide& wide) {
                if constexpr (requires { std::get<T>(wide); }) {
                  return std::holds_alternative<T>(wide) ? show(std::get<T>(wide)) : Json();
                } else {
                  return wide.has_value() ? show(*wide) : Json();
                }
              }};
}

// The same type without a default to show: it depends on other keys.
template <class T>
Type<T> no_default(Type<T> type) {
  type.show = [](const T&) { return Json(); };
  return type;
}

}  // namespace weir::config
