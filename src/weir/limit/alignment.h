// SPDX-License-Identifier: Apache-2.0
//
// Where the windows of a limit begin: at whole multiples of W since 1970-01-01 UTC, plus an offset that is fixed or,
// with jitter, that of the subject, so that the windows of different subjects end at different times. A window limit
// counts in a time of its own, the wall clock moved so that its windows begin at whole multiples of W.
// Thread safety: an immutable value.
#pragma once

#include <cstdint>
#include <string_view>

#include "weir/limit/outcome.h"

namespace weir::limit {

// FNV-1a with 64 bits (Fowler, Noll, Vo; draft-eastlake-fnv): Call::phase of a subject with this key.
constexpr std::uint64_t fnv1a(std::string_view key) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : key) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

struct Alignment {
  Ticks window = 0;     // W
  Ticks offset = 0;     // o, 0 to W - 1
  bool jitter = false;  // o comes from Call::phase
  bool operator==(const Alignment&) const = default;

  // The limit's own time: the wall clock, or up to W - 1 ticks more.
  Ticks time(const Call& call) const {
    const Ticks from = jitter ? static_cast<Ticks>(call.phase % static_cast<std::uint64_t>(window)) : offset;
    return from == 0 ? call.wall : call.wall + (window - from);
  }

  // The begin of the window that has this instant of the limit's own time.
  Ticks start_of(Ticks at) const { return at - at % window; }
};

}  // namespace weir::limit
