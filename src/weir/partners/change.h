// SPDX-License-Identifier: Apache-2.0
//
// One change of one row: for the audit, and for caches that have to forget what it made untrue. Thread safety: plain
// values.
#pragma once

#include <cstdint>
#include <string>

#include "weir/base/clock.h"
#include "weir/partners/records.h"

namespace weir::partners {

// What kind of row.
enum class RowKind : std::uint8_t { kPlan, kPartner, kKey, kLimit };

struct Change {
  enum class Action : std::uint8_t { kCreated, kChanged, kDeleted };

  std::int64_t revision = 0;  // the order of revisions is that of the commits; no two changes have the same
  WallTime at{};
  std::string by;
  Action action = Action::kCreated;
  Subject subject;  // whose record is out of date; of a row of limits its owner
  RowKind kind = RowKind::kPlan;
  std::string name;    // of the plan or partner, the key's id; of a limit its LimitId as text
  std::string before;  // JSON; empty when it was created
  std::string after;   // JSON; empty when it was deleted

  bool operator==(const Change&) const = default;
};

}  // namespace weir::partners
