// SPDX-License-Identifier: Apache-2.0
//
// The load generator's command line, as values.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cpu_time.h"

namespace weir::bench {

struct LoadOptions {
  std::uint16_t port = 0;             // on 127.0.0.1
  std::vector<std::string> requests;  // their bytes, complete; sent in turn, over and over
  int connections = 64;
  bool yield = false;  // the CPU to others whenever there is nothing to do
  std::chrono::nanoseconds warmup{};
  std::chrono::nanoseconds duration{};
  std::chrono::nanoseconds patience{};  // a request that waits longer at the end has stalled
  int expected_status = 200;
  std::optional<std::size_t> expected_body;  // bytes
  bool hold = false;  // one request on each connection, then idle until standard input has a line or ends
  std::optional<std::uint16_t> serve;  // be the origin on this port too, and wait for a line of NAME=PID to begin
  Watched watched;
};

// The exit code where the program should end at once: 0 after --help, 2 after wrong usage (reported on stderr).
std::expected<LoadOptions, int> parse_load_options(int argc, char** argv);

// Adds the processes of "NAME=PID NAME=PID"; false when that is not what the text is.
bool add_watched(Watched& watched, std::string_view text);

}  // namespace weir::bench
