// SPDX-License-Identifier: Apache-2.0
#include "weir/config/object.h"

#include "weir/config/scalars.h"

namespace weir::config {

bool read_names(Reader& reader, const Node& node, Names& names) {
  if (node.kind != Node::Kind::kMap) return report_mismatch(reader, node, "a map from names to values");
  if (node.entries.empty())
    return report_fault(reader, node.place, {"the map is empty; it needs at least one name", {}, {}});
  bool good = true;
  for (const auto& [key, value] : node.entries) {
    names.add(key->text);
    const auto parsed = parse_name(key->text);
    if (!parsed) good = report_fault(reader, key->place, parsed.error());
  }
  return good;
}

Json named_schema(Json value) {
  return {{"type", "object"},
          {"additionalProperties", std::move(value)},
          {"propertyNames", {{"pattern", kNamePattern}}},
          {"minProperties", 1}};
}

}  // namespace weir::config
