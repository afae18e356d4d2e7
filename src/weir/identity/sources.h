// SPDX-License-Identifier: Apache-2.0
//
// Single values out of a request: a field by name, a parameter of the query, a cookie. Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "weir/http/message.h"

namespace weir::identity {

// A field name with the id that makes the common ones cheap to compare.
struct FieldName {
  explicit FieldName(std::string_view name) : text(name), id(http::field_id(name)) {}

  bool matches(const http::RequestHead& request, const http::Field& field) const;

  std::string text;
  http::FieldId id;
};

struct Single {
  std::string_view value;  // empty when absent
  bool present = false;
  bool twice = false;  // present more than once, whatever the values are
};

Single find_field(const http::RequestHead& request, const FieldName& name);

// The parameter whose name equals `name` after one decoding (%XX, and `+` for a space, as forms do; `&` separates;
// an escape without two hex digits stands for itself). The value is decoded the same way, into `room` when it differs
// from the bytes of the query. Requires: `room` has capacity for the value, so that views into it stay valid.
Single find_query(std::string_view query, std::string_view name, std::string& room);

// The first cookie with exactly this name (RFC 6265 section 5.4), over all Cookie fields; never `twice`.
Single find_cookie(const http::RequestHead& request, std::string_view name);

// Takes the text before the next separator off the front, and the separator.
std::string_view take_until(char separator, std::string_view& text);

// One value of a query, decoded as find_query does it; `room` likewise.
std::string_view decoded(std::string_view text, std::string& room);

// Without spaces and tabs around it.
std::string_view trimmed(std::string_view text);

}  // namespace weir::identity
