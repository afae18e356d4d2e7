// SPDX-License-Identifier: Apache-2.0
//
// YAML text as a tree of nodes that know their places. Scalars stay text (what `20` means is for the reader to say),
// and `${NAME}` in scalar values is replaced already, so that a value never changes the structure.
// Guarantees: keys are unique scalars, depth is at most 64, and the tree has at most 1,000,000 nodes with aliases
// expanded. Thread safety: immutable.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "weir/config/load.h"
#include "weir/config/report.h"
#include "weir/config/source.h"

namespace weir::config {

struct Node {
  // kFault: a text whose fault was reported already.
  enum class Kind : std::uint8_t { kNull, kText, kList, kMap, kFault };
  struct Entry {
    const Node* key;
    const Node* value;
  };

  Kind kind = Kind::kNull;
  bool quoted = false;  // a text in quotes is never a number or a truth value
  Place place;
  std::string text;
  std::vector<const Node*> items;  // of a list
  std::vector<Entry> entries;      // of a map, in the order of the file
};

struct Tree {
  std::deque<Node> nodes;
  const Node* root = nullptr;  // absent: an empty file
};

// Reports every fault it can; absent when the text has no usable structure.
std::optional<Tree> parse_yaml(const Source& source, const Environment& environment, Report& report);

}  // namespace weir::config
