// SPDX-License-Identifier: Apache-2.0
//
// A Lua script with the name under which servers keep it. Thread safety: immutable.
#pragma once

#include <string>
#include <string_view>

namespace weir::redis {

class Script {
 public:
  // `text` lives as long as the script.
  explicit Script(std::string_view text);

  std::string_view text() const { return text_; }
  std::string_view sha1() const { return sha1_; }  // in hexadecimal digits

 private:
  std::string_view text_;
  std::string sha1_;
};

}  // namespace weir::redis
