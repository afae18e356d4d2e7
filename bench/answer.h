// SPDX-License-Identifier: Apache-2.0
//
// Finds the end of an HTTP/1.1 response with a Content-Length, at almost no cost when responses look alike: the
// positions that the last one taught are compared first, and only a response of another shape is parsed.
// For a load generator, which trusts its peer's framing but checks it: not a parser for the data path.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weir::bench {

struct Answer {
  int status = 0;
  std::size_t body = 0;  // bytes
  std::size_t size = 0;  // bytes, head included
};

class AnswerScanner {
 public:
  enum class Verdict {
    kComplete,    // exactly one response; last() describes it
    kIncomplete,  // the start of one
    kMalformed,   // no response, one without Content-Length, or bytes after its end
  };

  // Requires: `received` begins where a response begins.
  Verdict scan(std::string_view received) { return looks_like_last(received) ? Verdict::kComplete : parse(received); }

  // The last complete response.
  const Answer& last() const { return last_; }

 private:
  bool looks_like_last(std::string_view received) const;
  Verdict parse(std::string_view received);

  Answer last_;
  std::string status_line_start_;  // "HTTP/1.1 200"
  std::string length_field_;       // "Content-Length: 210\r\n", as written
  std::size_t length_at_ = 0;      // its offset
  std::size_t head_size_ = 0;      // 0: nothing learnt yet
};

}  // namespace weir::bench
