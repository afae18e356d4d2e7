// SPDX-License-Identifier: Apache-2.0
//
// Collects what is wrong with one file. What it repeats of the file is without the passwords of URLs, and without
// what it was told to hide. Not thread safe.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "weir/config/load.h"
#include "weir/config/source.h"

namespace weir::config {

class Report {
 public:
  // `source` outlives the report.
  explicit Report(const Source& source) : source_(source) {}

  void error(const Place& place, std::string_view message, std::string_view suggestion = {});
  void warning(const Place& place, std::string_view message, std::string_view suggestion = {});

  // A text that stands in this line is hidden wherever the line is shown, also by what was reported before.
  void hide(std::size_t line, std::string_view text);

  std::size_t errors() const { return errors_; }
  // True when more faults than anybody reads were found; further ones are only counted.
  bool full() const { return diagnostics_.size() >= kMost; }
  const Source& source() const { return source_; }

  // In the order of the file. Empties the report.
  std::vector<Diagnostic> take();

 private:
  static constexpr std::size_t kMost = 1000;

  void add(Severity severity, const Place& place, std::string_view message, std::string_view suggestion);

  std::string without_secrets(std::size_t line, std::string_view text) const;

  const Source& source_;
  std::vector<Diagnostic> diagnostics_;
  std::multimap<std::size_t, std::string> hidden_;  // by line
  std::size_t errors_ = 0;
};

}  // namespace weir::config
