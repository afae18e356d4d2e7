// SPDX-License-Identifier: Apache-2.0
#include "weir/config/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <sstream>
#include <unordered_map>
#include <utility>

#include "weir/config/environment.h"

namespace weir::config {
namespace {

constexpr std::size_t kDeepest = 64;
constexpr std::size_t kMostNodes = 1'000'000;

Place place_of(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

// Ends the parse; caught in parse_yaml.
struct Unusable {
  Place place;
  std::string message;
};

// Builds the tree from the parser's events.
class Builder final : public YAML::EventHandler {
 public:
  Builder(const Source& source, const Environment& environment, Report& report)
      : source_(source), environment_(environment), report_(report) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (tree_.root != nullptr)
      throw Unusable{place_of(mark), "a second document begins here; one file is one document"};
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Node::Kind::kList, mark, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Node::Kind::kMap, mark, anchor);
  }
  void OnMapEnd() override { close(); }

  Tree take() { return std::move(tree_); }

 private:
  // What an anchor stands for, with aliases expanded.
  struct Anchored {
    const Node* node = nullptr;
    std::size_t first_node = 0;  // count_ before it
    std::size_t size = 0;        // 0: still open
    std::size_t height = 0;
  };
  struct Open {
    Node* node;
    YAML::anchor_t anchor = 0;
    std::size_t height = 1;
    const Node* key = nullptr;                         // a key that waits for its value
    std::unordered_map<std::string_view, int> seen{};  // key -> line
  };

  bool expects_key() const {
    return !open_.empty() && open_.back().node->kind == Node::Kind::kMap && open_.back().key == nullptr;
  }
  Node* make(Node::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor);
  void count(std::size_t nodes, const Place& place);
  void open(Node::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor);
  void close();
  void attach(const Node* node);
  void take_key(const Node* node);
  void check_closed(const YAML::Mark& mark, const Place& place) const;

  const Source& source_;
  const Environment& environment_;
  Report& report_;
  Tree tree_;
  std::vector<Open> open_;
  std::unordered_map<YAML::anchor_t, Anchored> anchors_;
  std::size_t count_ = 0;
};

void Builder::count(std::size_t nodes, const Place& place) {
  count_ += nodes;
  if (count_ > kMostNodes) throw Unusable{place, fmt::format("the document has more than {} values", kMostNodes)};
}

Node* Builder::make(Node::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
  const std::size_t first = count_;
  count(1, place_of(mark));
  Node& node = tree_.nodes.emplace_back();
  node.kind = kind;
  node.place = place_of(mark);
  const bool leaf = kind == Node::Kind::kNull || kind == Node::Kind::kText;
  if (anchor != 0) anchors_[anchor] = {&node, first, leaf ? std::size_t{1} : 0, leaf ? std::size_t{1} : 0};
  return &node;
}

void Builder::open(Node::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
  Node* node = make(kind, mark, anchor);
  if (open_.size() >= kDeepest) throw Unusable{node->place, fmt::format("nested more than {} levels deep", kDeepest)};
  if (expects_key()) throw Unusable{node->place, "a key must be a plain word, not a list or a map"};
  open_.push_back({.node = node, .anchor = anchor});
}

void Builder::close() {
  const Open done = std::move(open_.back());
  open_.pop_back();
  if (done.anchor != 0) {
    Anchored& anchored = anchors_[done.anchor];
    anchored.size = count_ - anchored.first_node;
    anchored.height = done.height;
  }
  if (!open_.empty()) open_.back().height = std::max(open_.back().height, done.height + 1);
  attach(done.node);
}

void Builder::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  Node* node = make(Node::Kind::kNull, mark, anchor);
  // The mark of what is not there is that of the next thing, often lines below.
  if (!open_.empty() && open_.back().key != nullptr) node->place = open_.back().key->place;
  attach(node);
}

void Builder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  const Place place = place_of(mark);
  const Anchored& target = anchors_[anchor];
  if (target.size == 0) throw Unusable{place, "an alias inside of what it stands for"};
  if (expects_key()) throw Unusable{place, "a key must be a plain word, not an alias"};
  if (open_.size() + target.height > kDeepest) {
    throw Unusable{place, fmt::format("nested more than {} levels deep", kDeepest)};
  }
  count(target.size, place);
  if (!open_.empty()) open_.back().height = std::max(open_.back().height, target.height + 1);
  attach(target.node);
}

void Builder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       const std::string& text) {
  Node* node = make(Node::Kind::kText, mark, anchor);
  node->quoted = tag != "?";
  if (node->quoted) check_closed(mark, node->place);
  if (expects_key() || text.find("${") == text.npos) {
    node->text = text;
  } else if (auto replaced = substitute(text, environment_)) {
    node->text = *std::move(replaced);
    node->quoted = false;
  } else {
    report_.error(node->place, replaced.error());
    node->kind = Node::Kind::kFault;
  }
  attach(node);
}

// The parser takes the end of the file for the end of a quoted text.
void Builder::check_closed(const YAML::Mark& mark, const Place& place) const {
  const std::string& text = source_.text();
  auto at = static_cast<std::size_t>(mark.pos);
  if (at >= text.size() || (text[at] != '"' && text[at] != '\'')) return;
  const char quote = text[at];
  for (++at; at < text.size(); ++at) {
    const bool doubled = quote == '\'' && text.compare(at, 2, "''") == 0;
    if (doubled || (quote == '"' && text[at] == '\\')) {
      ++at;
    } else if (text[at] == quote) {
      return;
    }
  }
  throw Unusable{place, fmt::format("not valid YAML: the {} that opens here is never closed", quote)};
}

void Builder::attach(const Node* node) {
  if (open_.empty()) {
    tree_.root = node;
  } else if (open_.back().node->kind == Node::Kind::kList) {
    open_.back().node->items.push_back(node);
  } else if (open_.back().key == nullptr) {
    take_key(node);
  } else {
    open_.back().node->entries.push_back({std::exchange(open_.back().key, nullptr), node});
  }
}

void Builder::take_key(const Node* node) {
  if (node->kind == Node::Kind::kNull) throw Unusable{node->place, "a key must be a plain word"};
  Open& map = open_.back();
  const auto [first, fresh] = map.seen.emplace(node->text, node->place.line);
  if (!fresh)
    report_.error(node->place, fmt::format("key '{}' is here twice; first in line {}", node->text, first->second));
  map.key = node;
}

// What the parser's terse messages usually come from.
std::string hint_for(const Source& source, const Place& place, std::string_view message) {
  if (message.contains("alias") || message.contains("anchor"))
    return "a text that begins with '*' or '&' must be in quotes";
  const std::string_view line = source.line(place.line);
  const std::size_t at = static_cast<std::size_t>(place.column) - 1;
  const std::size_t first = line.find_first_not_of(' ');
  if (first != line.npos && line[first] == '\t') return "YAML does not allow tabs in indentation";
  if (at < line.size() && std::string_view("{}[]?").find(line[at]) != std::string_view::npos) {
    return "a text with brackets, braces or '?' must be in quotes here";
  }
  if (at < line.size() && std::string_view("@`%&!|>").find(line[at]) != std::string_view::npos) {
    return fmt::format("a text that begins with '{}' must be in quotes", line[at]);
  }
  return "check the indentation and the quotes around this place";
}

bool check_characters(const Source& source, Report& report) {
  const std::string& text = source.text();
  Place place{1, 1};
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0 || text[at] == '\0') {
      report.error(place, length == 0 ? "the file is not valid UTF-8 here" : "the file has a NUL byte here");
      return false;
    }
    place = text[at] == '\n' ? Place{place.line + 1, 1} : Place{place.line, place.column + static_cast<int>(length)};
    at += length;
  }
  return true;
}

}  // namespace

std::optional<Tree> parse_yaml(const Source& source, const Environment& environment, Report& report) {
  if (!check_characters(source, report)) return std::nullopt;
  Builder builder(source, environment, report);
  try {
    std::istringstream stream(source.text());
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) continue;
    return builder.take();
  } catch (const Unusable& fault) {
    report.error(fault.place, fault.message);
  } catch (const YAML::Exception& fault) {
    const Place place = place_of(fault.mark);
    report.error(place, "not valid YAML: " + fault.msg, hint_for(source, place, fault.msg));
  }
  return std::nullopt;
}

}  // namespace weir::config
