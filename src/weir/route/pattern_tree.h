// SPDX-License-Identifier: Apache-2.0
//
// Path patterns as a tree over segments, so that a look-up costs the same with ten patterns and with ten thousand.
// `{name}` stands for one segment, a `*` at the end for one or more of them (`/reports/*` matches `/reports/x` and
// `/reports/x/y`, not `/reports`); `/*` alone is every path, `/` included. Slashes at the end do not matter.
// Thread safety: immutable after the last add.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "weir/route/path.h"

namespace weir::route {

using PatternIndex = std::uint32_t;  // in Router::patterns()

// Lets maps with string keys be asked with views.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

template <class Value>
using TextMap = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

class PatternTree {
 public:
  // Literal segments are compared in their normal form of this reading: kPlain or kDecoded.
  explicit PatternTree(Reading reading) : reading_(reading), nodes_(1) {}

  void add(std::string_view pattern_path, PatternIndex pattern);

  // Appends all patterns whose paths match, in no order, once each. `path` is in normal form or ordinary.
  void match(std::string_view path, std::vector<PatternIndex>& found) const { match(0, path, found); }

 private:
  using NodeIndex = std::uint32_t;
  struct Node {
    TextMap<NodeIndex> literals;
    NodeIndex any = 0;                // child for one segment of any name; 0: none, because the root is no child
    std::vector<PatternIndex> here;   // patterns that end at this node
    std::vector<PatternIndex> below;  // patterns that end in `*` behind this node
  };

  NodeIndex child(NodeIndex parent, std::string_view segment);
  void match(NodeIndex at, std::string_view path, std::vector<PatternIndex>& found) const;

  Reading reading_;
  std::vector<Node> nodes_;
};

// How exactly a pattern describes a path: of two patterns that match the same request, the one with the greater
// text is the more specific one. Literals count more than `{name}`, that more than `*`, earlier segments more than
// later ones; then an exact method more than GET for HEAD, and that more than `*`.
std::string specificity(std::string_view method, std::string_view pattern_path);

}  // namespace weir::route
