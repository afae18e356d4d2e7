// SPDX-License-Identifier: Apache-2.0
//
// What a parser says when it cannot go on. Thread safety: plain values.
#pragma once

#include <cstdint>
#include <string_view>

namespace weir::http {

// Why a message is refused. `code` is stable and short: it is the `code` of the problem document and a label of
// metrics, e.g. "lone-lf", "bad-field-name", "head-too-large". Both texts live as long as the program.
struct Rejection {
  int status = 400;
  std::string_view code;
  std::string_view detail;  // one sentence for the client, without any of its bytes
};

enum class Parsed : std::uint8_t { kIncomplete, kComplete, kRejected };

}  // namespace weir::http
