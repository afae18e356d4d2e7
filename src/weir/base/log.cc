// SPDX-License-Identifier: Apache-2.0
#include "weir/base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace weir {
namespace {

// The one logger of the process; its sink locks by itself.
spdlog::logger& logger() {
  static const auto instance = [] {
    auto made = std::make_shared<spdlog::logger>("weir", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");
    return made;
  }();
  return *instance;
}

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarn:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

}  // namespace

void set_log_level(LogLevel level) { logger().set_level(to_spdlog(level)); }
void write_audit(std::string_view message) { logger().log(spdlog::level::off, message); }
bool log_enabled(LogLevel level) { return logger().should_log(to_spdlog(level)); }
void write_log(LogLevel level, std::string_view message) { logger().log(to_spdlog(level), message); }

}  // namespace weir
