// SPDX-License-Identifier: Apache-2.0
//
// The heads of HTTP/1.1 requests and responses (RFC 9112) after parsing: views into the bytes of the message and
// what the fields mean for framing. The views stay valid as long as the bytes that were parsed stay where they
// are; after a move, `rebase` points them at the new place. Thread safety: plain values.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "weir/http/field.h"

namespace weir::http {

enum class BodyKind : std::uint8_t { kNone, kLength, kChunked, kUntilClose };

struct Body {
  BodyKind kind = BodyKind::kNone;
  std::uint64_t length = 0;  // of kLength
};

// The methods that weir treats apart (RFC 9110 section 9); every other token is kOther.
enum class Method : std::uint8_t { kOther, kGet, kHead, kPost, kPut, kDelete, kOptions, kPatch, kConnect, kTrace };

struct RequestHead {
  std::string_view bytes;   // request line, fields and the empty line, without empty lines before it
  std::string_view method;  // as it was sent
  Method method_id = Method::kOther;
  std::string_view target;  // as it was sent
  std::string_view path;    // raw, starts with '/'; "*" of OPTIONS *; "/" where the target has no path
  std::string_view query;   // raw, starts with '?', or empty
  std::string_view host;    // the authority that counts: Host, or the target's; may be empty in HTTP/1.0
  std::uint8_t minor_version = 1;
  Body body;
  bool keep_alive = true;         // what version and Connection ask for
  bool expects_continue = false;  // HTTP/1.1 only
  bool names_fields = false;      // Connection names fields beside close, keep-alive and upgrade
  bool asks_upgrade = false;      // Connection names upgrade
  bool absolute_form = false;     // the target named scheme and authority
  std::vector<Field> fields;
  std::uint64_t known = 0;  // bit per FieldId that is present

  bool has(FieldId id) const { return (known >> static_cast<unsigned>(id)) & 1U; }
  // The first field with this id, or null.
  const Field* find(FieldId id) const;
  // The field with this id where there is exactly one, else null.
  const Field* only(FieldId id) const;
  // The first field with this name (no case), or null.
  const Field* find(std::string_view name) const;
  std::string_view value(const Field& field) const { return field.value(bytes); }
  // The same head after its bytes have moved to `moved`. Requires: equal content.
  void rebase(std::string_view moved);
};

struct ResponseHead {
  std::string_view bytes;  // status line, fields and the empty line
  std::uint16_t status = 0;
  std::string_view reason;  // may be empty
  std::uint8_t minor_version = 1;
  Body body;  // HEAD, 204, 304 and 1xx are already taken into account
  bool keep_alive = true;
  bool names_fields = false;
  bool asks_upgrade = false;  // Connection names upgrade (a 101)
  bool stray_body = false;    // a body was announced where none may be: the connection is not to be reused
  std::vector<Field> fields;
  std::uint64_t known = 0;

  bool has(FieldId id) const { return (known >> static_cast<unsigned>(id)) & 1U; }
  const Field* find(FieldId id) const;
  std::string_view value(const Field& field) const { return field.value(bytes); }
};

}  // namespace weir::http
