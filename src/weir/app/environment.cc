// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "weir/app/commands.h"

namespace weir::app {

std::optional<std::string> environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): nothing changes the environment
  if (value == nullptr) return std::nullopt;
  return value;
}

}  // namespace weir::app
