// SPDX-License-Identifier: Apache-2.0
#include "weir/lookup/slot_table.h"

#include <utility>

namespace weir::lookup {
namespace {

constexpr std::uint32_t kLeast = 16;

}  // namespace

Slot& SlotTable::add(const Fingerprint& print, std::uint32_t entry) {
  const bool full = slots_ == nullptr || count_ >= (mask_ + 1) / 4 * 3;
  if (full) grow();
  Slot& slot = free_slot(print);
  slot.print = print;
  slot.entry = entry;
  ++count_;
  return slot;
}

// What follows without a gap moves up, unless that would take it before its home: so whoever is looked for is found
// before the first free slot.
void SlotTable::erase(const Fingerprint& print) {
  std::uint32_t gap = static_cast<std::uint32_t>(find(print) - slots_.get());
  for (std::uint32_t at = (gap + 1) & mask_; !slots_[at].is_free(); at = (at + 1) & mask_) {
    const std::uint32_t from_home = (at - home_of(slots_[at].print)) & mask_;
    const std::uint32_t from_gap = (at - gap) & mask_;
    if (from_home < from_gap) continue;
    slots_[gap] = std::move(slots_[at]);
    gap = at;
  }
  slots_[gap] = Slot();
  --count_;
}

Slot& SlotTable::free_slot(const Fingerprint& print) {
  std::uint32_t at = home_of(print);
  while (!slots_[at].is_free()) at = (at + 1) & mask_;
  return slots_[at];
}

void SlotTable::grow() {
  const std::uint32_t before = slots_ == nullptr ? 0 : mask_ + 1;
  const std::uint32_t size = before == 0 ? kLeast : before * 2;
  const auto old = std::exchange(slots_, std::make_unique<Slot[]>(size));
  mask_ = size - 1;
  last_.store(mask_, std::memory_order_relaxed);
  first_.store(slots_.get(), std::memory_order_relaxed);
  for (std::uint32_t at = 0; at < before; ++at) {
    if (!old[at].is_free()) free_slot(old[at].print) = std::move(old[at]);
  }
}

}  // namespace weir::lookup
