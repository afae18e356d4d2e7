// SPDX-License-Identifier: Apache-2.0
#include "weir/store/redis/redis_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "weir/limit/alignment.h"

namespace weir::store {
namespace {

SlotId id_of(std::string text, const std::vector<RedisKind::KeptSlot>& taken) {
  for (;; text += '+') {
    const std::uint64_t hash = limit::fnv1a(text);
    const auto id = static_cast<SlotId>(hash ^ (hash >> 32));
    if (std::ranges::find(taken, id, &RedisKind::KeptSlot::id) == taken.end()) return id;
  }
}

RedisKind::Variant variant_of(const limit::Limit& limit, SlotId id) {
  RedisKind::Variant variant{
      .limit = in_microseconds(limit), .ticks = ticks_per_micro(limit), .head = {}, .list = {}};
  variant.form = form_of(variant.limit);
  if (has_list(variant.form)) variant.list = list_name(id, variant.form);
  variant.life = life_code(life_seconds(variant.limit));
  if (!limit.has_jitter()) append_head(id, variant.limit, 0, variant.head);
  return variant;
}

}  // namespace

RedisKind::RedisKind(const Layout& layout) {
  static std::atomic<std::uint64_t> numbers{0};
  number_ = ++numbers;
  for (const Slot& slot : layout.slots) {
    const SlotId id = id_of(layout.kind + '\n' + slot.identity, slots_);
    KeptSlot kept{.id = id, .largest_cost = slot.largest_cost, .variants = {}};
    for (const limit::Limit& limit : slot.variants) kept.variants.push_back(variant_of(limit, id));
    slots_.push_back(std::move(kept));
  }
}

std::string list_name(SlotId id, Form form) { return fmt::format(":{:08x}{}", id, form == Form::kLog ? 'l' : 'r'); }

void AccountName::add_escaped(std::string_view value) {
  if (!first_) out_ += ',';
  first_ = false;
  out_ += value;
}

void AccountName::add(std::string_view value) {
  if (!first_) out_ += ',';
  first_ = false;
  if (value.empty()) {
    out_ += "\\-";
    return;
  }
  if (value.size() > kLongest) {
    const Fingerprint print = fingerprint({}, value);
    out_ += fmt::format("\\#{:016x}{:016x}", print.high, print.low);
    return;
  }
  for (const char c : value) {
    switch (c) {
      case ',':
      case '\\':
        out_ += '\\';
        out_ += c;
        break;
      case '{':
        out_ += "\\(";
        break;
      case '}':
        out_ += "\\)";
        break;
      default:
        out_ += c;
    }
  }
}

}  // namespace weir::store
