// SPDX-License-Identifier: Apache-2.0
#include "weir/config/language/alternatives.h"

#include "weir/config/combine.h"
#include "weir/config/language/limit_types.h"
#include "weir/config/rate.h"
#include "weir/config/scalars.h"

namespace weir::config {
namespace {

// `10/min`, or `{rate: 10/min, burst: 50}`.
Type<ByRate> by_rate() {
  Object<ByRate> object("a rate of `by`");
  object.required("rate", &ByRate::rate, rate(), "As `rate` of the limit.")
      .key("burst", &ByRate::burst, no_default(units()), "Default: the count.");
  auto plain = rate();
  Type<ByRate> scalar{.read = [read = std::move(plain.read)](Reader& reader, const Node& node,
                                                             ByRate& out) { return read(reader, node, out.rate); },
                      .schema = std::move(plain.schema)};
  return scalar_or_map<ByRate>(std::move(scalar), object);
}

bool is_number(const Node& node) {
  return node.kind == Node::Kind::kText && !node.text.empty() &&
         node.text.find_first_not_of("0123456789") == std::string::npos;
}

// `50`, or `unlimited`.
Type<ByRate> by_places() {
  auto number = places();
  return {.read =
              [read = std::move(number.read)](Reader& reader, const Node& node, ByRate& out) {
                constexpr std::string_view kExpected = "a number of requests such as 50, or unlimited";
                if (node.kind != Node::Kind::kText) return report_mismatch(reader, node, kExpected);
                out.unlimited = node.text == "unlimited";
                if (out.unlimited || is_number(node)) return out.unlimited || read(reader, node, out.max);
                return report_fault(reader, node.place,
                                    {fmt::format("'{}' is not {}", node.text, kExpected), {}, {}});
              },
          .schema = any_of({{"const", "unlimited"}}, std::move(number.schema))};
}

bool is_good_shape(Reader& reader, const Node& node) {
  if (node.kind != Node::Kind::kMap) return report_mismatch(reader, node, "a map from attributes to values");
  bool good = !node.entries.empty() || report_fault(reader, node.place, {"`by` names no attribute", {}, {}});
  for (const auto& [attribute, values] : node.entries) {
    if (values->kind == Node::Kind::kMap && !values->entries.empty()) continue;
    const bool is_empty = values->kind == Node::Kind::kMap;
    good = is_empty ? report_fault(reader, values->place, {"no value of '" + attribute->text + "' is named", {}, {}})
                    : report_mismatch(reader, *values, "a map from values of '" + attribute->text + "' to rates");
  }
  return good;
}

}  // namespace

Alternatives::Alternatives() : rate_(by_rate()), places_(by_places()) {}

Type<std::vector<ByRate>> Alternatives::shape() const {
  const Json value = any_of(rate_.schema, places_.schema);
  return {.read = [](Reader& reader, const Node& node, std::vector<ByRate>&) { return is_good_shape(reader, node); },
          .schema = {
              {"type", "object"},
              {"minProperties", 1},
              {"additionalProperties", {{"type", "object"}, {"minProperties", 1}, {"additionalProperties", value}}}}};
}

// Under an algorithm that could not be read a number may be right.
const Type<ByRate>& Alternatives::form(const Fields& fields, const Limit& limit, const Node& value) const {
  const bool are_places = fields.good("algorithm") ? limit.algorithm == Algorithm::kConcurrency : is_number(value);
  return are_places ? places_ : rate_;
}

bool Alternatives::read(Reader& reader, const Fields& fields, Limit& limit) const {
  const Node* by = fields.find("by");
  if (by == nullptr) return true;
  bool good = fields.good("by");
  for (const auto& [attribute, values] : by->entries) {
    for (const auto& [value, node] : values->entries) {
      ByRate& alternative = limit.by.emplace_back(attribute->text, value->text, std::nullopt, kAbsent);
      good &= form(fields, limit, *node).read(reader, *node, alternative);
    }
  }
  return good;
}

}  // namespace weir::config
