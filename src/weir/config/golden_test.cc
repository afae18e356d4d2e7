// SPDX-License-Identifier: Apache-2.0
//
// Messages as people see them. testdata/diagnostics.golden has cases of the form
//   === title
//   the file
//   --- what is printed
//   the diagnostics
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "weir/config/load.h"

namespace weir::config {
namespace {

constexpr const char* kGolden = WEIR_SOURCE_DIR "/src/weir/config/testdata/diagnostics.golden";
constexpr std::string_view kTitle = "=== ";
constexpr std::string_view kOutput = "--- what is printed";

struct GoldenCase {
  std::string title;
  std::string file;
  std::string printed;
};

std::vector<GoldenCase> read_cases() {
  std::ifstream stream(kGolden);
  std::vector<GoldenCase> cases;
  std::string* part = nullptr;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with(kTitle)) {
      part = &cases.emplace_back(line.substr(kTitle.size())).file;
    } else if (line == kOutput) {
      part = &cases.back().printed;
    } else if (part != nullptr) {
      *part += line + '\n';
    }
  }
  return cases;
}

std::optional<std::string> environment(const std::string& name) {
  if (name == "MANY") return "many";
  return std::nullopt;
}

std::string print(const std::string& file) {
  std::string printed;
  const auto loaded = load_text(file, "weir.yaml", environment);
  for (const Diagnostic& diagnostic : loaded ? loaded->warnings : loaded.error()) printed += to_text(diagnostic);
  return printed;
}

TEST(GoldenTest, EveryFaultIsReportedInTheWordsOfTheGoldenFile) {
  const auto cases = read_cases();
  ASSERT_FALSE(cases.empty()) << kGolden;
  for (const GoldenCase& golden : cases) EXPECT_EQ(print(golden.file), golden.printed) << golden.title;
}

}  // namespace
}  // namespace weir::config
