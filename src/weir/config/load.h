// SPDX-License-Identifier: Apache-2.0
//
// Text to Config. Reads the whole file, reports every fault at once with its place, and returns a Config only
// when there is none. `${NAME}` in scalar values is replaced by the environment's value. Not thread safe with
// respect to changes of the environment.
#pragma once

#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/config/config.h"

namespace weir::config {

enum class Severity { kError, kWarning };

// One fault, printed as
//   file:line:column: error: message
//   <the line>
//   <caret>
//   suggestion
struct Diagnostic {
  Severity severity = Severity::kError;
  std::string file;
  int line = 0;    // from 1; 0: the whole file (missing, unreadable)
  int column = 0;  // from 1
  std::string message;
  std::string source_line;
  std::string suggestion;  // empty: none
};

using Environment = std::function<std::optional<std::string>(const std::string& name)>;

struct Loaded {
  Config config;
  std::vector<Diagnostic> warnings;
};

// Relative paths in the file (token_file, log.access, unix sockets) are taken from the file's folder for
// files that are read while loading and from the working directory otherwise.
std::expected<Loaded, std::vector<Diagnostic>> load_file(const std::string& path, const Environment& environment);
std::expected<Loaded, std::vector<Diagnostic>> load_text(std::string_view text, const std::string& file_name,
                                                         const Environment& environment);

// The form above, and one JSON array of all diagnostics.
std::string to_text(const Diagnostic& diagnostic);
std::string to_json(const std::vector<Diagnostic>& diagnostics);

}  // namespace weir::config
