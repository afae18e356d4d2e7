// SPDX-License-Identifier: Apache-2.0
//
// The operational log: one line per event, on standard error, through spdlog. Not for requests (that is the access
// log). Formatting happens only when the level is on. Thread safety: any thread.
#pragma once

#include <fmt/format.h>

#include <string_view>

namespace weir {

enum class LogLevel { kDebug, kInfo, kWarn, kError };

void set_log_level(LogLevel level);
bool log_enabled(LogLevel level);
// What has to be written whatever the level: who has changed something.
void write_audit(std::string_view message);
void write_log(LogLevel level, std::string_view message);

template <class... Args>
void log_at(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(level)) write_log(level, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void log_debug(fmt::format_string<Args...> format, Args&&... args) {
  log_at(LogLevel::kDebug, format, std::forward<Args>(args)...);
}
template <class... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  log_at(LogLevel::kInfo, format, std::forward<Args>(args)...);
}
template <class... Args>
void log_warn(fmt::format_string<Args...> format, Args&&... args) {
  log_at(LogLevel::kWarn, format, std::forward<Args>(args)...);
}
template <class... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) {
  log_at(LogLevel::kError, format, std::forward<Args>(args)...);
}

}  // namespace weir
