// SPDX-License-Identifier: Apache-2.0
//
// Requests for tests: parsed from text by the parser that also reads them from connections.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "weir/http/parser.h"

namespace weir::identity::testing {

class ParsedRequest {
 public:
  // `start`: method and target; `fields`: lines without their ends. A Host field is put before them.
  explicit ParsedRequest(std::string_view start, const std::vector<std::string>& fields = {}) : parser_(Rules()) {
    text_ = std::string(start) + " HTTP/1.1\r\nHost: api.example\r\n";
    for (const std::string& field : fields) text_ += field + "\r\n";
    text_ += "\r\n";
    const std::size_t size = text_.size();
    text_.append(kPadding, '\0');
    if (parser_.parse(std::string_view(text_).substr(0, size)) != http::Parsed::kComplete) {
      throw std::invalid_argument("not a request: " + std::string(parser_.rejection().code));
    }
  }
  ParsedRequest(const ParsedRequest&) = delete;
  ParsedRequest& operator=(const ParsedRequest&) = delete;

  const http::RequestHead& head() const { return parser_.head(); }

 private:
  using Rules = http::RequestRules;
  static constexpr std::size_t kPadding = 32;  // the parser may look at bytes behind its input

  std::string text_;
  http::RequestParser parser_;
};

}  // namespace weir::identity::testing
