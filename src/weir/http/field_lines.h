// SPDX-License-Identifier: Apache-2.0
//
// Reads the field lines of a head (RFC 9112 section 5) one by one, from bytes that may grow between calls. Every byte
// is looked at once, whatever the pieces it comes in. Thread safety: one thread.
#pragma once

#include <cstdint>

#include "weir/http/field.h"
#include "weir/http/rejection.h"

namespace weir::http {

class FieldLines {
 public:
  enum class Event : std::uint8_t { kMore, kField, kEnd, kFault };

  // `at`: offset of the first field line in the head. `underscores`: names may contain '_'.
  void start(std::uint32_t at, std::uint32_t max_fields, bool underscores);

  // The next event within head[0, size). kField fills `field`; kMore: come back with a larger size.
  // Requires: 16 readable bytes behind head + size.
  Event next(const char* head, std::uint32_t size, Field& field);

  // After kEnd: the offset behind the empty line.
  std::uint32_t end() const { return at_; }

  // After kFault.
  const Rejection& fault() const { return *fault_; }

 private:
  Event read_name(const char* head, std::uint32_t size);
  Event read_end(const char* at, const char* end);
  Event read_value(const char* head, std::uint32_t size, Field& field);
  void fill(const char* head, const char* stop, Field& field);
  Event fail(const Rejection& why);

  const Rejection* fault_ = nullptr;
  std::uint32_t line_ = 0;   // first byte of the current line
  std::uint32_t at_ = 0;     // first byte of it that was not accepted yet
  std::uint32_t colon_ = 0;  // of the current line, when in_value_
  std::uint32_t left_ = 0;   // fields that may still come
  std::uint8_t name_classes_ = 0;
  bool in_value_ = false;
};

}  // namespace weir::http
