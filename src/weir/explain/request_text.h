// SPDX-License-Identifier: Apache-2.0
//
// A request from the words of a command line, as the bytes that a client would send.
// Thread safety: RequestText is immutable, the rest are pure functions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/base/result.h"

namespace weir::explain {

struct RequestWords {
  std::string start;                       // "METHOD TARGET", or a target: GET
  std::vector<std::string> fields;         // "Name: value"
  std::string from = "127.0.0.1";          // the peer's address, or "unix"
  std::optional<std::uint64_t> body_size;  // becomes Content-Length
};

class RequestText {
 public:
  // Fails when a word is not what it has to be. What HTTP forbids is left to the parser.
  static Result<RequestText> compose(const RequestWords& words, std::string_view default_host);

  // With the room behind it that parsers ask for.
  std::string_view bytes() const { return std::string_view(text_).substr(0, size_); }

 private:
  std::string text_;
  std::size_t size_ = 0;
};

// Method and target of such words.
struct RequestStart {
  std::string method;
  std::string target;
};
Result<RequestStart> read_start(std::string_view start);

// The path of a target, without its query; absolute-form allowed.
std::string path_of(std::string_view target);
// The authority of an absolute-form target; empty: it is none.
std::string authority_of(std::string_view target);
bool names_host(const std::vector<std::string>& fields);

}  // namespace weir::explain
