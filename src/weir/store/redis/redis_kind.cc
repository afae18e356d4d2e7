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

// Whether what was taken of it can be spent later: a log and a line want to know when, a place is somebody's, and
// what is settled when the answer comes is asked for in any case.
bool can_be_held(const limit::Limit& limit) {
  const auto has_no_debt = []<class Algorithm>(const Algorithm& algorithm) {
    if constexpr (requires { algorithm.numbers().debt; }) return algorithm.numbers().debt == 0;
    return true;
  };
  const bool timeless = limit.holds<limit::TokenBucket>() || limit.holds<limit::FixedWindow>() ||
                        limit.holds<limit::SlidingWindow>() || limit.holds<limit::CalendarQuota>();
  return timeless && std::visit(has_no_debt, limit.algorithm());
}

// How much one gateway may hold of a limit: so little that half of it always stays with the others, and nothing of
// what is small. None of a bucket that would then be too small for a request.
limit::Cost lease_of(const limit::Limit& limit, limit::Cost largest_cost, const Leasing& leasing) {
  if (!can_be_held(limit) || limit.capacity() < 4 * leasing.gateways) return 0;
  const limit::Cost lease = std::min(leasing.max, limit.capacity() / (2 * leasing.gateways));
  const limit::Cost left = limit.capacity() - lease * leasing.gateways;
  return limit.holds<limit::TokenBucket>() && left < largest_cost ? 0 : lease;
}

// The bucket without what is kept in reserve. Requires: lease is what lease_of says.
limit::Limit without_reserve(const limit::Limit& limit, limit::Cost lease, const Leasing& leasing) {
  const auto* bucket = std::get_if<limit::TokenBucket>(&limit.algorithm());
  return bucket == nullptr ? limit : limit::Limit(bucket->with_capacity(limit.capacity() - lease * leasing.gateways));
}

RedisKind::Variant variant_of(const limit::Limit& limit, const RedisKind::KeptSlot& slot, const Leasing& leasing) {
  const limit::Cost lease = lease_of(limit, slot.largest_cost, leasing);
  RedisKind::Variant variant{.limit = in_microseconds(without_reserve(limit, lease, leasing)),
                             .ticks = ticks_per_micro(limit),
                             .head = {},
                             .list = {},
                             .lease = lease};
  variant.form = form_of(variant.limit);
  if (has_list(variant.form)) variant.list = list_name(slot.id, variant.form);
  variant.life = life_code(life_seconds(variant.limit));
  if (!limit.has_jitter()) append_head(slot.id, variant.limit, 0, variant.head);
  return variant;
}

// All limits of a slot that keep entries have the same algorithm.
std::vector<std::string> lists_of(const Slot& slot, SlotId id) {
  const limit::Limit& limit = slot.book == nullptr ? slot.variants.front() : (*slot.book)[0];
  if (!limit.keeps_entries()) return {};
  return {list_name(id, form_of(limit))};
}

}  // namespace

RedisKind::RedisKind(const Layout& layout, const Leasing& leasing)
    : met_(std::make_unique<Memo<std::uint64_t, Variant>>()), leasing_(leasing) {
  static std::atomic<std::uint64_t> numbers{0};
  number_ = ++numbers;
  for (const Slot& slot : layout.slots) {
    const SlotId id = id_of(layout.kind + '\n' + slot.identity, slots_);
    KeptSlot kept{
        .id = id, .largest_cost = slot.largest_cost, .variants = {}, .book = slot.book, .lists = lists_of(slot, id)};
    for (const limit::Limit& limit : slot.variants) kept.variants.push_back(variant_of(limit, kept, leasing));
    slots_.push_back(std::move(kept));
  }
}

const RedisKind::Variant& RedisKind::met(std::uint16_t slot, std::uint32_t variant) const {
  const KeptSlot& kept = slots_[slot];
  return met_->get(std::uint64_t{slot} << 32 | variant,
                   [&] { return variant_of((*kept.book)[variant], kept, leasing_); });
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
