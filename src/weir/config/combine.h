// SPDX-License-Identifier: Apache-2.0
//
// Types made of types, combined like the values they describe: list_of(duration()),
// word_or("auto", 0, number(1, 256)). Thread safety: immutable after they were made.
#pragma once

#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include "weir/config/type.h"

namespace weir::config {

// One special word, or the other type.
template <class T>
Type<T> word_or(const std::string& word, const T& value, Type<T> type) {
  Json schema = any_of({{"const", word}}, std::move(type.schema));
  return {.read =
              [word, value, read = std::move(type.read)](Reader& reader, const Node& node, T& out) {
                if (node.kind != Node::Kind::kText || node.text != word) return read(reader, node, out);
                out = value;
                return true;
              },
          .schema = std::move(schema),
          .show =
              [word, value, show = std::move(type.show)](const T& current) {
                if constexpr (std::equality_comparable<T>) {
                  if (current == value) return Json(word);
                }
                return show(current);
              }};
}

// A short form that is a scalar, or a long form that is a map.
template <class T>
Type<T> scalar_or_map(Type<T> scalar, Type<T> map) {
  Json schema = any_of(std::move(scalar.schema), std::move(map.schema));
  return {.read = [short_form = std::move(scalar.read), long_form = std::move(map.read)](
                      Reader& reader, const Node& node,
                      T& out) { return (node.kind == Node::Kind::kMap ? long_form : short_form)(reader, node, out); },
          .schema = std::move(schema),
          .show = std::move(scalar.show)};
}

// Reports scalars that are in the list twice.
bool check_distinct(Reader& reader, const Node& list);

// A list of at least `least` different values. A value that cannot be read keeps its place, so that indexes hold.
template <class T>
Type<std::vector<T>> list_of(Type<T> type, std::size_t least = 0) {
  Json schema{{"type", "array"}, {"items", std::move(type.schema)}};
  if (least > 0) schema["minItems"] = least;
  return {.read =
              [read = std::move(type.read), least](Reader& reader, const Node& node, std::vector<T>& out) {
                if (node.kind != Node::Kind::kList) return report_mismatch(reader, node, "a list");
                if (node.items.size() < least) {
                  return report_fault(reader, node.place, {"the list is empty; it needs at least one value", {}, {}});
                }
                bool good = check_distinct(reader, node);
                out.reserve(node.items.size());
                for (const Node* item : node.items) good &= read(reader, *item, out.emplace_back());
                return good;
              },
          .schema = std::move(schema),
          .show =
              [show = std::move(type.show)](const std::vector<T>& values) {
                Json list;
                for (const T& value : values) list.push_back(show(value));
                return list;
              }};
}

// Exactly one value, kept as a list.
template <class T>
Type<std::vector<T>> list_of_one(Type<T> type) {
  return {
      .read = [read = std::move(type.read)](Reader& reader, const Node& node,
                                            std::vector<T>& out) { return read(reader, node, out.emplace_back()); },
      .schema = std::move(type.schema)};
}

// What was read, turned into what is kept. `turn` is a bool(Reader&, const Node&, Raw&&, T&).
template <class T, class Raw, class Turn>
Type<T> turned(Type<Raw> type, Turn turn) {
  return {.read =
              [read = std::move(type.read), turn = std::move(turn)](Reader& reader, const Node& node, T& out) {
                Raw raw{};
                return read(reader, node, raw) && turn(reader, node, std::move(raw), out);
              },
          .schema = std::move(type.schema)};
}

}  // namespace weir::config
