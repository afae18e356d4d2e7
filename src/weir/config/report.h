// SPDX-License-Identifier: Apache-2.0
//
// Collects what is wrong with one file. What it repeats of the file is without the passwords of URLs. Not thread
// safe.
#pragma once

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

  std::size_t errors() const { return errors_; }
  // True when more faults than anybody reads were found; further ones are only counted.
  bool full() const { return diagnostics_.size() >= kMost; }
  const Source& source() const { return source_; }

  // In the order of the file. Empties the report.
  std::vector<Diagnostic> take();

 private:
  static constexpr std::size_t kMost = 1000;

  void add(Severity severity, const Place& place, std::string_view message, std::string_view suggestion);

  const Source& source_;
  std::vector<Diagnostic> diagnostics_;
  std::size_t errors_ = 0;
};

}  // namespace weir::config
