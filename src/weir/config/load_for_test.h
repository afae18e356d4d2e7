// SPDX-License-Identifier: Apache-2.0
//
// Short forms for tests that load texts.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "weir/config/load.h"

namespace weir::config {

inline std::optional<std::string> no_environment(const std::string&) { return std::nullopt; }

// The configuration of a text that must be good.
inline Config load_good(const std::string& text) {
  auto loaded = load_text(text, "weir.yaml", no_environment);
  if (loaded) return std::move(loaded->config);
  for (const Diagnostic& fault : loaded.error()) ADD_FAILURE() << to_text(fault);
  return {};
}

// The faults of a text that must be bad.
inline std::vector<Diagnostic> load_bad(const std::string& text) {
  auto loaded = load_text(text, "weir.yaml", no_environment);
  if (!loaded) return std::move(loaded.error());
  ADD_FAILURE() << "accepted:\n" << text;
  return {};
}

}  // namespace weir::config
