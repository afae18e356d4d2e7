// SPDX-License-Identifier: Apache-2.0
//
// A record of the policies as it is known here, and how long that is believed.
// Thread safety: immutable, shared.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "weir/base/clock.h"
#include "weir/partners/records.h"
#include "weir/policy/row_table.h"

namespace weir::lookup {

struct Known {
  partners::Record record;         // absent is something that is known, too
  std::uint64_t compiled_for = 0;  // the generation whose rules `rows` is for; 0: none yet
  policy::RowTable rows;

  bool absent() const { return std::holds_alternative<std::monostate>(record); }
};

using KnownPtr = std::shared_ptr<const Known>;

// As it was read: its rows are not compiled yet.
inline KnownPtr known_of(partners::Record record) {
  return std::make_shared<const Known>(Known{.record = std::move(record), .compiled_for = 0, .rows = {}});
}

// How long what is known is believed.
struct Lifetimes {
  nanoseconds present = std::chrono::seconds(60);
  nanoseconds absent = std::chrono::seconds(10);

  nanoseconds of(const partners::Record& record) const {
    return std::holds_alternative<std::monostate>(record) ? absent : present;
  }
};

enum class Freshness : std::uint8_t {
  kUnknown,  // never heard of, or forgotten
  kFresh,
  kDue,      // holds, but is soon to be looked up again, in the background
  kExpired,  // holds only if the look-up fails
};

struct Found {
  KnownPtr known;  // null: kUnknown
  Freshness freshness = Freshness::kUnknown;
};

}  // namespace weir::lookup
