// SPDX-License-Identifier: Apache-2.0
#include "weir/config/yaml.h"

#include <gtest/gtest.h>

#include "weir/config/load_for_test.h"

namespace weir::config {
namespace {

// The tree as text: maps {k:v}, lists [v], quoted texts in quotes.
std::string write(const Node& node) {
  std::string out;
  switch (node.kind) {
    case Node::Kind::kNull:
      return "~";
    case Node::Kind::kFault:
      return "!";
    case Node::Kind::kText:
      return node.quoted ? '"' + node.text + '"' : node.text;
    case Node::Kind::kList:
      for (const Node* item : node.items) out += (out.empty() ? "" : ",") + write(*item);
      return '[' + out + ']';
    case Node::Kind::kMap:
      for (const auto& [key, value] : node.entries)
        out += (out.empty() ? "" : ",") + write(*key) + ':' + write(*value);
      return '{' + out + '}';
  }
  return out;
}

struct Parse {
  std::string tree;
  std::vector<Diagnostic> faults;
};

Parse parse(const std::string& text) {
  const Source source("weir.yaml", text);
  Report report(source);
  const auto tree = parse_yaml(source, no_environment, report);
  return {tree && tree->root != nullptr ? write(*tree->root) : "", report.take()};
}

std::string first_fault(const std::string& text) {
  const Parse parsed = parse(text);
  return parsed.faults.empty() ? "" : parsed.faults.front().message;
}

TEST(YamlTest, ScalarsStayText) {
  EXPECT_EQ(parse("a: 010\nb: yes\nc: \"20\"\nd: 'x'\ne: ~\nf: [1, {g: h}]\n").tree,
            R"({a:010,b:yes,c:"20",d:"x",e:~,f:[1,{g:h}]})");
  EXPECT_EQ(parse("").tree, "");
  EXPECT_EQ(parse("\xef\xbb\xbf"
                  "a: 1\r\nb: 2\r\n")
                .tree,
            "{a:1,b:2}");
}

TEST(YamlTest, AliasesStandForTheirAnchors) {
  EXPECT_EQ(parse("a: &x {b: 1}\nc: *x\nd: [*x, *x]\n").tree, "{a:{b:1},c:{b:1},d:[{b:1},{b:1}]}");
  EXPECT_EQ(first_fault("a: &x [*x]\n"), "an alias inside of what it stands for");
  EXPECT_EQ(first_fault("a: &x 1\n*x : 2\n"), "a key must be a plain word, not an alias");
}

TEST(YamlTest, AliasesThatMultiplyAreRefused) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 40; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int j = 1; j < 10; ++j) text += ", " + before;
    text += "]\n";
  }
  EXPECT_EQ(first_fault(text), "the document has more than 1000000 values");
}

TEST(YamlTest, DepthIsBoundedAlsoThroughAliases) {
  const auto nested = [](int depth) {
    return "a: " + std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']');
  };
  EXPECT_EQ(first_fault(nested(63)), "");
  EXPECT_EQ(first_fault(nested(64)), "nested more than 64 levels deep");
  EXPECT_EQ(first_fault(nested(100'000)), "nested more than 64 levels deep");
  std::string chain = "a0: &a0 [x]\n";
  for (int i = 1; i < 100; ++i) {
    chain += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + "]\n";
  }
  EXPECT_EQ(first_fault(chain), "nested more than 64 levels deep");
}

TEST(YamlTest, TextThatIsNotUtf8IsRefusedAtItsPlace) {
  for (const std::string& bad : {std::string("\xff"), std::string("\xc0\xaf"), std::string("\xed\xa0\x80"),
                                 std::string("\xf4\x90\x80\x80"), std::string("\xe2\x82"), std::string("\x80")}) {
    const Parse parsed = parse("a: 1\nb: \"" + bad + "\"\n");
    ASSERT_EQ(parsed.faults.size(), 1u);
    EXPECT_EQ(parsed.faults[0].message, "the file is not valid UTF-8 here");
    EXPECT_EQ(parsed.faults[0].line, 2);
    EXPECT_EQ(parsed.faults[0].column, 5);
  }
  EXPECT_EQ(first_fault(std::string("a: 1\0", 5)), "the file has a NUL byte here");
}

TEST(YamlTest, NothingThatComesInThrows) {
  const std::string text =
      "listeners: [{address: \"a\\x41:1\"}]\nb: &x {c: 'd', e: |\n  f\n}\n? g\n: *x\n--- # h\n%YAML 1.2\n";
  std::size_t faults = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const char c : {'[', '{', '"', '\'', ':', '&', '*', '!', '\n', '\t', '|', '%', '-', '?', ' ', '\\'}) {
      std::string changed = text;
      changed[i] = c;
      faults += parse(changed).faults.size() + parse(text.substr(0, i) + c).faults.size();
    }
  }
  EXPECT_GT(faults, 1000u);
}

}  // namespace
}  // namespace weir::config
