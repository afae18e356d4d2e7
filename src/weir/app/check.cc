// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "weir/app/commands.h"
#include "weir/config/load.h"
#include "weir/config/schema.h"

namespace weir::app {

int check_configuration(const std::string& file, bool json) {
  const auto loaded = config::load_file(file, environment_variable);
  const auto& diagnostics = loaded ? loaded->warnings : loaded.error();
  if (json) {
    std::puts(config::to_json(diagnostics).c_str());
  } else {
    for (const config::Diagnostic& one : diagnostics) std::fputs(config::to_text(one).c_str(), stderr);
    if (loaded) std::printf("%s: ok\n", file.c_str());
  }
  return loaded ? kDone : kUnusableConfiguration;
}

int print_schema() {
  std::puts(config::json_schema().c_str());
  return kDone;
}

}  // namespace weir::app
