// SPDX-License-Identifier: Apache-2.0
//
// Paths as they are matched: the ways in which a careful or a careless reader may take the same bytes. The plain
// reading follows RFC 3986 section 6.2.2 (unreserved escapes decoded once, hex digits upper case, dot segments
// resolved, empty segments dropped); the others are what servers are known to do besides. In every reading a byte
// that is not allowed in a segment (`"`, `<`, bytes above 0x7F) equals its escape, and a trailing slash is dropped.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::route {

// A reading is a set of liberties; none of them is the plain reading.
using Reading = std::uint8_t;
inline constexpr Reading kPlain = 0;
inline constexpr Reading kSlash = 1;       // %2F separates segments
inline constexpr Reading kBackslash = 2;   // so do %5C and `\`
inline constexpr Reading kParameters = 4;  // a segment ends at its first `;`
inline constexpr Reading kDecoded = 8;     // every escape is decoded, again and again until none is left
inline constexpr Reading kEmpty = 16;      // empty segments count while dot segments are resolved

enum class PathShape : std::uint8_t {
  kOrdinary,  // reads the same in every way and is its own normal form, but for a trailing slash
  kUnusual,
  kBad,  // a control byte, escaped or not, or a `%` without two hex digits
};

struct Inspection {
  PathShape shape = PathShape::kOrdinary;
  Reading doubts = kPlain;  // the liberties that can make a difference for this path
};

// One pass over the bytes. Requires: `path` starts with '/'.
Inspection inspect(std::string_view path);

// Decodes all escapes until none is left, in linear time. A slash that comes from an escape is written as
// kEscapedSlash, so that it can be told from a separator. False when a control byte comes to light.
// Requires: inspect(path) is not kBad.
bool decode_fully(std::string_view path, std::string& decoded);
inline constexpr char kEscapedSlash = '\x01';

// The liberties that matter for a path made by decode_fully.
Reading doubts_of_decoded(std::string_view decoded);

// Writes the normal form of `path` in `reading` to `normal`: "/" or segments with a slash before each. False when
// `..` leads above the root. With kDecoded, `path` is what decode_fully wrote. Requires: inspect(path) is not kBad,
// `path` is no view into `normal`.
bool normalise(std::string_view path, Reading reading, std::string& normal);

// Takes the next segment that is not empty off the front of `path`; empty when there is none.
std::string_view take_segment(std::string_view& path);

// A segment of a configured path in its plain and in its decoded normal form.
std::string normal_segment(std::string_view segment, Reading reading);

}  // namespace weir::route
