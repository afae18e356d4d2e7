// SPDX-License-Identifier: Apache-2.0
//
// What a map with fixed keys looks like, whatever its values are: which keys there are, and what is wrong with those
// of a file. Thread safety: immutable after it was made; Fields belong to one read.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "weir/config/type.h"

namespace weir::config {

// The keys of one map while it is read: where they are, and whether they could be read.
class Fields {
 public:
  explicit Fields(const Node& map) : map_(map) {}

  const Node& map() const { return map_; }
  const Node* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  // Of the value; of the map when the key is absent.
  Place place(std::string_view name) const;
  // Absent, or present without fault.
  bool good(std::string_view name) const { return std::ranges::find(bad_, name) == bad_.end(); }
  // Present without fault.
  bool readable(std::string_view name) const { return has(name) && good(name); }
  void mark_bad(std::string_view name) { bad_.push_back(name); }

 private:
  const Node& map_;
  std::vector<std::string_view> bad_;
};

// What an object knows about a key, whatever it holds.
struct KeyInfo {
  std::string name;
  bool required = false;
  std::string meaning{};  // not empty: a word of the language that this version does not act on
};

// What one map may hold, without the types.
struct Shape {
  std::string what;  // "a listener", for messages
  std::vector<KeyInfo> keys{};
  std::vector<std::vector<std::string>> exactly_one{};
};

// Unknown, unavailable, missing and contradicting keys. `unavailable_before`: Reader::unavailable_words before the
// map was read; where something unavailable stands, missing keys are no news.
void check_shape(Reader& reader, const Shape& shape, const Fields& fields, std::size_t unavailable_before);
Json shape_schema(const Shape& shape, Json properties, const std::string& doc);

}  // namespace weir::config
