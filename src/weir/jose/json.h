// SPDX-License-Identifier: Apache-2.0
//
// JSON as tokens and key sets have it, read strictly: an object in UTF-8, no member twice, not deeper than 32, no
// integer beyond 64 bits. And base64url without padding (RFC 7515 section 2). Thread safety: pure functions.
#pragma once

#include <jansson.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace weir::jose {

struct FreeJson {
  void operator()(json_t* json) const { json_decref(json); }
};
using Json = std::unique_ptr<json_t, FreeJson>;

// Null: not such an object.
Json read_object(std::string_view text);

// Absent: no such member, or it is no text.
std::optional<std::string_view> text_member(const json_t* object, const char* name);

// Absent: another alphabet, padding, bits after the end that are not zero, a length that no octets give.
std::optional<std::string> decode_base64url(std::string_view text);

}  // namespace weir::jose
