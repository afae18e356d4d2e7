// SPDX-License-Identifier: Apache-2.0
//
// Records as text, for what outlives this process: the shared cache and the snapshot. One line of JSON each. What
// another version has written and this one cannot read is taken as not there.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weir/partners/records.h"

namespace weir::lookup {

struct Said {
  partners::Record record;
  std::int64_t revision = 0;  // of the database when it said so
  WallTime at{};              // when that was
};

std::string text_of(const Said& said);
std::optional<Said> said_of(std::string_view text);

// "partner:acme"; of a key its digest in hexadecimal digits.
std::string name_of(const partners::Subject& subject);
std::optional<partners::Subject> subject_of(std::string_view name);

}  // namespace weir::lookup
