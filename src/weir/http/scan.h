// SPDX-License-Identifier: Apache-2.0
//
// Searches for the next byte that ends a part of a message head, 16 bytes at a time where SSE2 is there.
// Each returns the first stop byte in [at, end), or `end`. Requires: 16 readable bytes behind `end`.
#pragma once

#include <bit>
#include <cstdint>

#include "weir/http/chars.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace weir::http {

#if defined(__SSE2__)

// `stops(block)` gives 0xFF in every lane that holds a stop byte.
template <class Stops>
inline const char* scan_blocks(const char* at, const char* end, Stops stops) {
  for (; at < end; at += 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(stops(block)));
    if (mask != 0) {
      const char* stop = at + std::countr_zero(mask);
      return stop < end ? stop : end;
    }
  }
  return end;
}

inline __m128i lanes_equal(__m128i block, char c) { return _mm_cmpeq_epi8(block, _mm_set1_epi8(c)); }

// Unsigned low <= lane <= low + span, by moving the range to the bottom of the signed numbers.
inline __m128i lanes_between(__m128i block, int low, int span) {
  const __m128i moved = _mm_add_epi8(block, _mm_set1_epi8(static_cast<char>(-128 - low)));
  return _mm_cmplt_epi8(moved, _mm_set1_epi8(static_cast<char>(-127 + span)));
}

// Everything a target cannot hold, and '#': bytes up to space, and from 0x7F on (negative when signed).
inline __m128i target_stops(__m128i block) {
  const __m128i low_or_high = _mm_cmplt_epi8(block, _mm_set1_epi8(0x21));
  return _mm_or_si128(low_or_high, _mm_or_si128(lanes_equal(block, 0x7F), lanes_equal(block, '#')));
}

#endif

// Stops at a byte that is in none of `classes`. Letters, digits and '-' must be in them.
inline const char* find_token_end(const char* at, const char* end, std::uint8_t classes) {
#if defined(__SSE2__)
  at = scan_blocks(at, end, [](__m128i block) {
    const __m128i letter = lanes_between(_mm_or_si128(block, _mm_set1_epi8(0x20)), 'a', 25);
    const __m128i plain = _mm_or_si128(letter, _mm_or_si128(lanes_between(block, '0', 9), lanes_equal(block, '-')));
    return _mm_xor_si128(plain, _mm_set1_epi8(-1));
  });
#endif
  while (at < end && is_in(*at, classes)) ++at;
  return at;
}

// Stops at a byte that a field value cannot hold: control bytes but tab, and DEL.
inline const char* find_control(const char* at, const char* end) {
#if defined(__SSE2__)
  return scan_blocks(at, end, [](__m128i block) {
    const __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(block, _mm_set1_epi8(0x1F)), block);
    return _mm_or_si128(_mm_andnot_si128(lanes_equal(block, '\t'), low), lanes_equal(block, 0x7F));
  });
#else
  while (at < end && is_in(*at, kValueChar)) ++at;
  return at;
#endif
}

inline bool is_target_stop(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte <= 0x20 || byte >= 0x7F || c == '#';
}

// Stops at the end of a target's path: space, '?', or a byte that a path cannot hold ('#', '\\', control, >= 0x7F).
inline const char* find_path_end(const char* at, const char* end) {
#if defined(__SSE2__)
  return scan_blocks(at, end, [](__m128i block) {
    return _mm_or_si128(target_stops(block), _mm_or_si128(lanes_equal(block, '?'), lanes_equal(block, '\\')));
  });
#else
  while (at < end && !is_target_stop(*at) && *at != '?' && *at != '\\') ++at;
  return at;
#endif
}

// Stops at the end of a target's query: space, or a byte that a query cannot hold ('#', control, >= 0x7F).
inline const char* find_query_end(const char* at, const char* end) {
#if defined(__SSE2__)
  return scan_blocks(at, end, target_stops);
#else
  while (at < end && !is_target_stop(*at)) ++at;
  return at;
#endif
}

}  // namespace weir::http
