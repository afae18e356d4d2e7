// SPDX-License-Identifier: Apache-2.0
#include "weir/config/shape.h"

namespace weir::config {
namespace {

std::string quoted_list(const std::vector<std::string>& names) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) list += i + 1 == names.size() ? " or " : ", ";
    list += '\'' + names[i] + '\'';
  }
  return list;
}

const KeyInfo* find(const Shape& shape, std::string_view name) {
  const auto found = std::ranges::find(shape.keys, name, &KeyInfo::name);
  return found == shape.keys.end() ? nullptr : &*found;
}

std::vector<std::string> available(const Shape& shape, std::vector<std::string> names) {
  std::erase_if(names, [&](const std::string& name) { return !find(shape, name)->meaning.empty(); });
  return names;
}

void report_unknown(Reader& reader, const Shape& shape, const Node& key) {
  if (reader.report.full()) return reader.report.error(key.place, "unknown key");
  std::vector<std::string> known;
  for (const KeyInfo& info : shape.keys) known.push_back(info.name);
  const std::string hint = key.text == "<<" ? "merge keys are not part of the language; write the values out"
                                            : reader.suggest(key.text, known);
  reader.report.error(key.place, fmt::format("unknown key '{}' in {}", key.text, shape.what), hint);
}

void check_keys(Reader& reader, const Shape& shape, const Fields& fields) {
  for (const auto& [key, value] : fields.map().entries) {
    const KeyInfo* info = find(shape, key->text);
    if (info == nullptr) {
      report_unknown(reader, shape, *key);
    } else if (!info->meaning.empty()) {
      reader.unavailable(key->place, fmt::format("key '{}'", key->text), info->meaning);
    }
  }
}

void check_exactly_one(Reader& reader, const Shape& shape, const std::vector<std::string>& names,
                       const Fields& fields, bool report_missing) {
  const Node* first = nullptr;
  for (const auto& [key, value] : fields.map().entries) {
    if (std::ranges::find(names, key->text) == names.end()) continue;
    if (first != nullptr && first->text != key->text) {
      reader.report.error(key->place, fmt::format("'{}' contradicts '{}' in line {}; {} takes one of them", key->text,
                                                  first->text, first->place.line, shape.what));
    }
    if (first == nullptr) first = key;
  }
  if (first == nullptr && report_missing) {
    reader.report.error(fields.map().place,
                        fmt::format("{} needs {}", shape.what, quoted_list(available(shape, names))));
  }
}

}  // namespace

const Node* Fields::find(std::string_view name) const {
  for (const auto& [key, value] : map_.entries) {
    if (key->text == name) return value;
  }
  return nullptr;
}

Place Fields::place(std::string_view name) const {
  const Node* value = find(name);
  return value == nullptr ? map_.place : value->place;
}

void check_shape(Reader& reader, const Shape& shape, const Fields& fields, std::size_t unavailable_before) {
  check_keys(reader, shape, fields);
  const bool report_missing = reader.unavailable_words == unavailable_before;
  for (const KeyInfo& key : shape.keys) {
    if (!key.required || !report_missing || fields.has(key.name)) continue;
    reader.report.error(fields.map().place, fmt::format("key '{}' is required in {}", key.name, shape.what));
  }
  for (const auto& names : shape.exactly_one) check_exactly_one(reader, shape, names, fields, report_missing);
}

Json shape_schema(const Shape& shape, Json properties, const std::string& doc) {
  Json schema{{"type", "object"}};
  if (!doc.empty()) schema["description"] = doc;
  schema["properties"] = std::move(properties);
  schema["additionalProperties"] = false;
  Json required = Json::array();
  for (const KeyInfo& key : shape.keys) {
    if (key.required) required.push_back(key.name);
  }
  if (!required.empty()) schema["required"] = std::move(required);
  for (const auto& names : shape.exactly_one) {
    Json alternatives = Json::array();
    for (const std::string& name : names) {
      if (schema["properties"].contains(name)) alternatives.push_back({{"required", Json::array({name})}});
    }
    schema["oneOf"] = std::move(alternatives);
  }
  return schema;
}

}  // namespace weir::config
