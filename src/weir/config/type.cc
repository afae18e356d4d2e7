// SPDX-License-Identifier: Apache-2.0
#include "weir/config/type.h"

#include <unordered_map>

namespace weir::config {

bool report_fault(Reader& reader, const Place& place, const Fault& fault) {
  if (fault.unavailable_meaning.empty()) {
    reader.report.error(place, fault.message, fault.suggestion);
  } else {
    reader.unavailable(place, fault.message, fault.unavailable_meaning);
  }
  return false;
}

bool report_mismatch(Reader& reader, const Node& node, std::string_view expected) {
  if (node.kind == Node::Kind::kFault) return false;
  reader.report.error(node.place, fmt::format("expected {}, found {}", expected, what_is(node)));
  return false;
}

bool check_distinct(Reader& reader, const Node& list) {
  std::unordered_map<std::string_view, int> seen;
  bool good = true;
  for (const Node* item : list.items) {
    if (item->kind != Node::Kind::kText || seen.emplace(item->text, 0).second) continue;
    reader.report.error(item->place, fmt::format("'{}' is in the list twice", item->text));
    good = false;
  }
  return good;
}

}  // namespace weir::config
