// SPDX-License-Identifier: Apache-2.0
//
// The reading side: records by the names that requests bring, and what has changed since. Blocking; one thread at a
// time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weir/base/result.h"
#include "weir/partners/change.h"
#include "weir/partners/fault.h"
#include "weir/partners/records.h"

namespace weir::partners {

// All of one consistent snapshot.
struct Reading {
  std::int64_t revision = 0;
  std::vector<Record> records;  // parallel to the subjects
  Faults faults;                // rows that cannot be used and were left out

  bool operator==(const Reading&) const = default;
};

class Source {
 public:
  virtual ~Source() = default;

  // The records of many subjects, with one query per kind and some hundred of them. kUnavailable: try again later;
  // kInvalid: the database has not the schema of this program.
  virtual Result<Reading> read(std::span<const Subject> subjects) = 0;
  // Changes above `revision` in their order, at most so many.
  virtual Result<std::vector<Change>> changes_after(std::int64_t revision, std::size_t most) = 0;
  // Of the newest change; 0 where there never was one.
  virtual Result<std::int64_t> revision() = 0;
};

}  // namespace weir::partners
