// SPDX-License-Identifier: Apache-2.0
//
// An account as it was found in Redis (scripts/acquire.lua says how it is written): its slots by name.
// Thread safety: plain values, that look at bytes which somebody else holds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weir/store/redis/slot_head.h"

namespace weir::store {

struct FoundSlot {
  std::string_view head;
  std::string_view state;
};

class FoundAccount {
 public:
  // What cannot be read has no slots.
  explicit FoundAccount(std::string_view bytes);

  const std::vector<FoundSlot>& slots() const { return slots_; }
  // Null: it was never used.
  const FoundSlot* find(SlotId id) const;
  LifeCode life() const { return life_; }

 private:
  std::vector<FoundSlot> slots_;
  LifeCode life_ = 0;
};

bool names(std::string_view head, SlotId id);

std::string write_account(LifeCode life, const std::vector<FoundSlot>& slots);

}  // namespace weir::store
