// SPDX-License-Identifier: Apache-2.0
//
// An account is everything that is counted for one subject; its limits are slots of one record, so that one atomic
// step can admit a request by all of them or by none. A Layout says which slots a kind of account has.
// Thread safety: layouts are immutable, the rest are plain values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "weir/base/fingerprint.h"
#include "weir/limit/limit.h"
#include "weir/store/limit_book.h"

namespace weir::store {

// One counter of an account. Several variants share its state where the numbers depend on the caller: the used amount
// is carried when a subject changes from one to another. They are a fixed list, or a book that grows meanwhile.
struct Slot {
  std::string identity;                // stable across reloads: same text = same counter
  std::vector<limit::Limit> variants;  // at least one, at most 255; none with a book
  limit::Cost largest_cost = 1;        // of one charge
  const LimitBook* book = nullptr;     // outlives the store
  bool operator==(const Slot&) const = default;
};

struct Layout {
  std::string kind;         // stable across reloads; e.g. "partner,service"
  std::vector<Slot> slots;  // at least one
  bool expendable = false;  // where memory is bounded its accounts give way first, and never make others give way;
                            // stable across reloads
  bool operator==(const Layout&) const = default;
};

struct Charge {
  std::uint16_t slot = 0;     // in Layout::slots
  std::uint32_t variant = 0;  // in Slot::variants, or in the book
  limit::Cost cost = 1;       // 0: peek
  bool operator==(const Charge&) const = default;
};

// A change of what a charge took, once its true cost is known.
struct Adjustment {
  std::uint16_t slot = 0;     // of the charge
  std::uint32_t variant = 0;  // of the charge
  limit::Cost by = 0;         // below zero: given back; above: taken as well, whether it is there or not
  limit::Ticks at = 0;        // Outcome::at of the charge
};

}  // namespace weir::store
