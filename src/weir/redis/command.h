// SPDX-License-Identifier: Apache-2.0
//
// A command as it goes over the wire (RESP2, an array of bulk strings; redis.io/docs/reference/protocol-spec).
// Thread safety: a plain value.
#pragma once

#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace weir::redis {

class Command {
 public:
  // Requires: exactly so many arguments are added.
  explicit Command(std::size_t arguments) { number('*', arguments); }
  Command(std::initializer_list<std::string_view> arguments) : Command(arguments.size()) {
    for (const std::string_view argument : arguments) add(argument);
  }

  Command& add(std::string_view argument) {
    number('$', argument.size());
    bytes_.append(argument).append("\r\n");
    return *this;
  }

  std::string_view bytes() const { return bytes_; }

 private:
  void number(char mark, std::size_t value) {
    char digits[20];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    bytes_ += mark;
    bytes_.append(digits, end).append("\r\n");
  }

  std::string bytes_;
};

}  // namespace weir::redis
