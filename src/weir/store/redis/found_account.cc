// SPDX-License-Identifier: Apache-2.0
#include "weir/store/redis/found_account.h"

#include <algorithm>
#include <cstring>

#include "weir/store/redis/wire.h"

namespace weir::store {

FoundAccount::FoundAccount(std::string_view bytes) {
  if (bytes.size() <= sizeof life_) return;
  std::memcpy(&life_, bytes.data(), sizeof life_);
  std::size_t at = sizeof life_;
  std::vector<std::size_t> sizes;
  while (at < bytes.size() && bytes[at] != 0) {
    const HeadMark mark(bytes[at]);
    if (at + 1 + mark.head_bytes() > bytes.size()) {
      slots_.clear();
      return;
    }
    slots_.push_back({bytes.substr(at + 1, mark.head_bytes()), {}});
    sizes.push_back(mark.state_bytes());
    at += 1 + mark.head_bytes();
  }
  ++at;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (at + sizes[i] > bytes.size()) {
      slots_.clear();
      return;
    }
    slots_[i].state = bytes.substr(at, sizes[i]);
    at += sizes[i];
  }
}

const FoundSlot* FoundAccount::find(SlotId id) const {
  const auto found = std::ranges::find_if(slots_, [id](const FoundSlot& slot) { return names(slot.head, id); });
  return found == slots_.end() ? nullptr : &*found;
}

bool names(std::string_view head, SlotId id) {
  return head.size() > sizeof id && std::memcmp(head.data(), &id, sizeof id) == 0;
}

std::string write_account(LifeCode life, const std::vector<FoundSlot>& slots) {
  std::string heads;
  std::string states;
  append_life(life, heads);
  for (const FoundSlot& slot : slots) {
    heads += HeadMark(slot.head.size(), slot.state.size()).byte();
    heads += slot.head;
    states += slot.state;
  }
  return heads + '\0' + states;
}

}  // namespace weir::store
