// SPDX-License-Identifier: Apache-2.0
//
// Where a message's body ends: reads the payload out of the bytes as they come, whatever the framing.
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "weir/http/chunked.h"
#include "weir/http/message.h"

namespace weir::gateway {

class MessageBody {
 public:
  struct Step {
    std::size_t consumed = 0;
    std::string_view payload;
    http::Parsed state = http::Parsed::kIncomplete;
  };

  MessageBody() = default;
  explicit MessageBody(const http::Body& body)
      : kind_(body.kind), left_(body.length), done_(body.kind == http::BodyKind::kNone || is_empty(body)) {}

  bool done() const { return done_; }
  http::BodyKind kind() const { return kind_; }
  // Payload bytes still to come, as far as the framing tells.
  std::uint64_t announced() const { return kind_ == http::BodyKind::kLength ? left_ : 0; }
  const http::Rejection& rejection() const { return decoder_.rejection(); }

  // Takes the next run of payload from `input`. kIncomplete without payload: more bytes are needed.
  Step next(std::string_view input) {
    if (done_) return {.consumed = 0, .payload = {}, .state = http::Parsed::kComplete};
    if (kind_ == http::BodyKind::kChunked) {
      const auto step = decoder_.next(input);
      done_ = step.state == http::Parsed::kComplete;
      return {step.consumed, step.payload, step.state};
    }
    const std::string_view payload = kind_ == http::BodyKind::kLength ? input.substr(0, left_) : input;
    if (kind_ == http::BodyKind::kLength) {
      left_ -= payload.size();
      done_ = left_ == 0;
    }
    return {payload.size(), payload, done_ ? http::Parsed::kComplete : http::Parsed::kIncomplete};
  }

  // The connection ended in order: true when that is the end of the body.
  bool ends_with_connection() {
    if (kind_ == http::BodyKind::kUntilClose) done_ = true;
    return done_;
  }

 private:
  static bool is_empty(const http::Body& body) { return body.kind == http::BodyKind::kLength && body.length == 0; }

  http::BodyKind kind_ = http::BodyKind::kNone;
  std::uint64_t left_ = 0;
  http::ChunkedDecoder decoder_;
  bool done_ = true;
};

}  // namespace weir::gateway
