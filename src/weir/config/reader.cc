// SPDX-License-Identifier: Apache-2.0
#include "weir/config/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "weir/config/near_word.h"

namespace weir::config {

void Names::add(const std::string& name) {
  index_.emplace(name, all_.size());
  all_.push_back(name);
}

std::optional<std::size_t> Names::find(const std::string& name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<int> Unique::seen(const std::string& text, const Place& place) {
  const auto [first, fresh] = lines_.emplace(text, place.line);
  return fresh ? std::nullopt : std::optional(first->second);
}

bool Scope::is_always_present(std::string_view attribute) {
  constexpr std::array<std::string_view, 4> kAlways{"address", "service", "endpoint", "method"};
  return std::ranges::find(kAlways, attribute) != kAlways.end();
}

bool Scope::has_attribute(const std::string& name) const {
  return !attributes_complete || is_always_present(name) || attributes.contains(name);
}

void Reader::unavailable(const Place& place, const std::string& subject, const std::string& meaning) {
  ++unavailable_words;
  report.error(place, fmt::format("{} ({}) is not available in this version of weir", subject, meaning));
}

std::string Reader::suggest(std::string_view word, std::span<const std::string> candidates) {
  if (comparisons_left < candidates.size()) return {};
  comparisons_left -= candidates.size();
  return did_you_mean(word, candidates);
}

std::string_view what_is(const Node& node) {
  switch (node.kind) {
    case Node::Kind::kNull:
      return "nothing";
    case Node::Kind::kText:
      return node.quoted ? "a text in quotes" : "a single value";
    case Node::Kind::kList:
      return "a list";
    case Node::Kind::kMap:
      return "a map";
    case Node::Kind::kFault:
      return "a fault";
  }
  return "";
}

}  // namespace weir::config
