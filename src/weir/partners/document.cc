// SPDX-License-Identifier: Apache-2.0
#include "weir/partners/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "weir/config/near_word.h"
#include "weir/config/report.h"
#include "weir/config/yaml.h"
#include "weir/partners/json.h"
#include "weir/partners/words.h"

namespace weir::partners {
namespace {

using config::Node;
using config::Place;

constexpr std::size_t kLargestFile = 64 << 20;
constexpr std::array<std::string_view, 4> kSections{"plans", "partners", "keys", "limits"};

// What the text is meant to be is said by the field.
Json scalar_of(const std::string& field, const Node& node) {
  if (node.kind == Node::Kind::kNull) return nullptr;
  if (node.kind != Node::Kind::kText) return Json::array();
  const std::string& text = node.text;
  if (!node.quoted && field == "enabled" && (text == "true" || text == "false")) return text == "true";
  if (!node.quoted && (field == "burst" || field == "revision")) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) return number;
  }
  return text;
}

class DocumentReader {
 public:
  DocumentReader(config::Report& report, Document& document) : report_(report), document_(document) {}

  void read(const Node& root) {
    if (root.kind == Node::Kind::kNull) return;
    if (root.kind != Node::Kind::kMap) return report_.error(root.place, "expected plans, partners, keys and limits");
    for (const auto& [key, value] : root.entries) {
      const auto section = std::ranges::find(kSections, key->text);
      if (section == kSections.end()) {
        const std::vector<std::string> known(kSections.begin(), kSections.end());
        report_.error(key->place, fmt::format("'{}' is none of plans, partners, keys and limits", key->text),
                      config::did_you_mean(key->text, known));
      } else {
        read_section(static_cast<RowKind>(section - kSections.begin()), key->text, *value);
      }
    }
  }

 private:
  void read_section(RowKind kind, const std::string& name, const Node& list) {
    if (list.kind == Node::Kind::kNull) return;
    if (list.kind != Node::Kind::kList) return report_.error(list.place, fmt::format("{} are a list", name));
    for (const Node* item : list.items) read_row(kind, *item);
  }

  void read_row(RowKind kind, const Node& node) {
    if (node.kind != Node::Kind::kMap) {
      return report_.error(node.place, fmt::format("a {} is a map of its fields", word(kind)));
    }
    Json object = Json::object();
    for (const auto& [key, value] : node.entries) object[key->text] = scalar_of(key->text, *value);
    const auto row = row_from_json(kind, object);
    if (!row) {
      for (const Fault& fault : row.error()) report_.error(place_of(node, fault.field), to_text(fault));
      return;
    }
    keep(*row, node);
  }

  void keep(const Row& row, const Node& node) {
    const std::string name = to_text(id_of(row));
    const auto [first, is_new] = document_.places.emplace(std::pair(name, std::string()), node.place);
    if (!is_new) {
      return report_.error(node.place, fmt::format("{} is in line {} already", name, first->second.line));
    }
    for (const auto& [key, value] : node.entries) document_.places.emplace(std::pair(name, key->text), value->place);
    document_.rows.push_back(row);
  }

  static Place place_of(const Node& node, const std::string& field) {
    const auto found =
        std::ranges::find_if(node.entries, [&](const Node::Entry& one) { return one.key->text == field; });
    return found == node.entries.end() ? node.place : found->value->place;
  }

  config::Report& report_;
  Document& document_;
};

Place place_of(const Document& document, const Fault& fault) {
  for (const std::string& field : {fault.field, std::string()}) {
    const auto found = document.places.find(std::pair(fault.row, field));
    if (found != document.places.end()) return found->second;
  }
  return {};
}

}  // namespace

std::expected<Document, std::vector<config::Diagnostic>> parse_document(const std::string& text,
                                                                        const std::string& file,
                                                                        const config::Environment& environment) {
  Document document{
      .source = config::Source(file, text.size() <= kLargestFile ? text : ""), .rows = {}, .places = {}};
  config::Report report(document.source);
  if (text.size() > kLargestFile) report.error({}, "the file is larger than 64 MiB");
  const auto tree = config::parse_yaml(document.source, environment, report);
  if (tree && tree->root != nullptr) DocumentReader(report, document).read(*tree->root);
  if (report.errors() > 0) return std::unexpected(report.take());
  return document;
}

std::vector<config::Diagnostic> diagnostics_of(const Document& document, const Faults& faults) {
  config::Report report(document.source);
  for (const Fault& fault : faults) report.error(place_of(document, fault), to_text(fault));
  return report.take();
}

}  // namespace weir::partners
