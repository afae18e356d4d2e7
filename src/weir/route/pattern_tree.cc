// SPDX-License-Identifier: Apache-2.0
#include "weir/route/pattern_tree.h"

namespace weir::route {
namespace {

bool is_placeholder(std::string_view segment) {
  return segment == "*" || (segment.size() > 2 && segment.starts_with('{') && segment.ends_with('}'));
}

bool is_last(std::string_view rest) { return take_segment(rest).empty(); }

void append(const std::vector<PatternIndex>& from, std::vector<PatternIndex>& to) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

void PatternTree::add(std::string_view pattern_path, PatternIndex pattern) {
  NodeIndex at = 0;
  for (auto segment = take_segment(pattern_path); !segment.empty(); segment = take_segment(pattern_path)) {
    if (segment == "*" && is_last(pattern_path)) {
      nodes_[at].below.push_back(pattern);
      if (at == 0) nodes_[at].here.push_back(pattern);
      return;
    }
    at = child(at, segment);
  }
  nodes_[at].here.push_back(pattern);
}

PatternTree::NodeIndex PatternTree::child(NodeIndex parent, std::string_view segment) {
  const bool placeholder = is_placeholder(segment);
  std::string name = placeholder ? std::string() : normal_segment(segment, reading_);
  NodeIndex& slot = placeholder ? nodes_[parent].any : nodes_[parent].literals[std::move(name)];
  if (slot != 0) return slot;
  const NodeIndex created = static_cast<NodeIndex>(nodes_.size());
  slot = created;
  nodes_.emplace_back();
  return created;
}

// Every node is visited at most once, since its depth says which segment it is for.
void PatternTree::match(NodeIndex at, std::string_view path, std::vector<PatternIndex>& found) const {
  const Node& node = nodes_[at];
  const std::string_view segment = take_segment(path);
  if (segment.empty()) return append(node.here, found);
  append(node.below, found);
  const auto literal = node.literals.find(segment);
  if (literal != node.literals.end()) match(literal->second, path, found);
  if (node.any != 0) match(node.any, path, found);
}

std::string specificity(std::string_view method, std::string_view pattern_path) {
  std::string text;
  for (auto segment = take_segment(pattern_path); !segment.empty(); segment = take_segment(pattern_path)) {
    const bool rest = segment == "*" && is_last(pattern_path);
    text += rest ? '1' : is_placeholder(segment) ? '2' : '3';
  }
  text += '4';  // so that `/` is more specific than `/*`; no other two patterns of one path differ in length
  text += method == "*" ? '1' : method == "GET" ? '2' : '3';
  return text;
}

}  // namespace weir::route
