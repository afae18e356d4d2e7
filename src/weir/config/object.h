// SPDX-License-Identifier: Apache-2.0
//
// Maps with fixed keys, described as a table: one line per key. The order of the lines is the order in which the keys
// are read. Thread safety: immutable after it was made.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/config/shape.h"
#include "weir/config/type.h"

namespace weir::config {

// The keys of a map from names of the user's choice.
bool read_names(Reader& reader, const Node& node, Names& names);
Json named_schema(Json value);

template <class T>
class Object {
 public:
  using Check = std::function<void(Reader&, const Fields&, T&)>;

  explicit Object(std::string what, std::string doc = {}) : shape_{.what = std::move(what)}, doc_(std::move(doc)) {}

  // A key whose value goes to `member`. Its default is what a fresh T has there.
  template <class M, class Owner>
  Object& key(const std::string& name, M Owner::* member, Type<M> type, const std::string& doc) {
    return add({.name = name}, member, std::move(type), doc);
  }
  // A key whose value may change more than one member.
  Object& key(const std::string& name, Type<T> type, const std::string& doc) {
    return add({.name = name}, std::move(type.read), std::move(type.schema), doc);
  }
  template <class M, class Owner>
  Object& required(const std::string& name, M Owner::* member, Type<M> type, const std::string& doc) {
    return add({.name = name, .required = true}, member, std::move(type), doc);
  }
  // Keys of this object that the file has one level deeper.
  Object& group(const std::string& name, const Object& inner) {
    const Type<T> type = inner;
    return add({.name = name}, type.read, type.schema, {});
  }
  // One alternative of a variant.
  template <class A>
  Object& alternative(const std::string& name, Type<A> type, const std::string& doc) {
    Type<T> wide = as<T>(std::move(type));
    return add({.name = name}, std::move(wide.read), std::move(wide.schema), doc);
  }
  // A word of the language that this version does not act on. It is not in the schema.
  Object& later(const std::string& name, const std::string& meaning) {
    return add({.name = name, .required = false, .meaning = meaning}, nullptr, {}, {});
  }
  Object& exactly_one(std::vector<std::string> names) {
    shape_.exactly_one.push_back(std::move(names));
    return *this;
  }
  // Runs when all keys were read; see Fields for which of them can be relied upon.
  Object& check(Check check) {
    checks_.push_back(std::move(check));
    return *this;
  }

  operator Type<T>() const {  // NOLINT: an object is a type
    auto self = std::make_shared<const Object>(*this);
    return {.read = [self](Reader& reader, const Node& node, T& out) { return self->read(reader, node, out); },
            .schema = shape_schema(shape_, properties_, doc_)};
  }

 private:
  using Read = std::function<bool(Reader&, const Node&, T&)>;

  template <class M, class Owner>
  Object& add(KeyInfo info, M Owner::* member, Type<M> type, const std::string& doc) {
    Json schema = std::move(type.schema);
    if (Json value = type.show(T{}.*member); !info.required && !value.is_null()) schema["default"] = std::move(value);
    auto read = [member, inner = std::move(type.read)](Reader& reader, const Node& node, T& out) {
      return inner(reader, node, out.*member);
    };
    return add(std::move(info), std::move(read), std::move(schema), doc);
  }
  Object& add(KeyInfo info, Read read, Json schema, const std::string& doc) {
    if (!doc.empty()) schema["description"] = doc;
    if (info.meaning.empty()) properties_[info.name] = std::move(schema);
    shape_.keys.push_back(std::move(info));
    reads_.push_back(std::move(read));
    return *this;
  }

  bool read(Reader& reader, const Node& node, T& out) const {
    if (node.kind != Node::Kind::kMap) return report_mismatch(reader, node, "a map (" + shape_.what + ")");
    const std::size_t errors_before = reader.report.errors();
    const std::size_t unavailable_before = reader.unavailable_words;
    Fields fields(node);
    for (std::size_t i = 0; i < reads_.size(); ++i) {
      const KeyInfo& key = shape_.keys[i];
      const Node* value = key.meaning.empty() ? fields.find(key.name) : nullptr;
      if (value != nullptr && !reads_[i](reader, *value, out)) fields.mark_bad(key.name);
    }
    check_shape(reader, shape_, fields, unavailable_before);
    for (const Check& check : checks_) check(reader, fields, out);
    return reader.report.errors() == errors_before;
  }

  Shape shape_;
  std::string doc_;
  Json properties_ = Json::object();
  std::vector<Read> reads_;  // parallel to shape_.keys
  std::vector<Check> checks_;
};

// A map from names of the user's choice to values, kept as a list with the names in it. All names are in scope before
// the first value is read.
template <class T>
Type<std::vector<T>> named(Names Scope::* names, const Type<T>& type) {
  return {.read =
              [names, read = type.read](Reader& reader, const Node& node, std::vector<T>& out) {
                bool good = read_names(reader, node, reader.scope.*names);
                for (const auto& [key, value] : node.entries) {
                  out.emplace_back().name = key->text;
                  good &= read(reader, *value, out.back());
                }
                return good;
              },
          .schema = named_schema(type.schema)};
}

}  // namespace weir::config
