// SPDX-License-Identifier: Apache-2.0
#include "weir/lookup/cache.h"

#include <algorithm>
#include <bit>
#include <mutex>
#include <utility>

namespace weir::lookup {
namespace {

constexpr auto kDueAgain = std::chrono::seconds(1);  // who asked for a look-up in the background has so long

std::uint32_t weight_of(const partners::Record& known) {
  const auto rows = [](const auto& record) -> std::size_t {
    if constexpr (requires { record.limits; }) return record.limits.size();
    return 0;
  };
  return static_cast<std::uint32_t>(1 + std::visit(rows, known));
}

// The same for the same entry, different for others: a part of 1024.
std::int64_t jitter_of(const Fingerprint& print) { return static_cast<std::int64_t>(print.low >> 54); }

}  // namespace

Cache::Cache(std::size_t most, const Lifetimes& lifetimes)
    : last_shard_(std::bit_floor(std::clamp<std::size_t>(most / kLeastOfShard, 1, kMostShards)) - 1),
      most_(most / (last_shard_ + 1)),
      lifetimes_(lifetimes) {}

Found Cache::find(const partners::Subject& subject, Instant now) {
  const Fingerprint print = print_of(subject);
  Shard& shard = shard_of(print);
  shard.slots.prefetch(print);
  const std::lock_guard lock(shard.lock);
  Slot* const slot = shard.slots.find(print);
  if (slot == nullptr || slot->known == nullptr) return {};
  if (!slot->asked_for) slot->asked_for = true;
  if (now >= slot->expires) return {slot->known, Freshness::kExpired};
  if (now < slot->due) return {slot->known, Freshness::kFresh};
  slot->due = now + kDueAgain;
  return {slot->known, Freshness::kDue};
}

KnownPtr Cache::put(const partners::Subject& subject, partners::Record record, std::int64_t revision, Instant now,
                    nanoseconds age) {
  if (age > lifetimes_.of(record) / 2) return nullptr;
  const Fingerprint print = print_of(subject);
  Shard& shard = shard_of(print);
  const std::lock_guard lock(shard.lock);
  if (is_outdated(shard, print, revision)) return nullptr;
  const Place place = place_of(shard, print, subject);
  const auto& [slot, entry] = place;
  if (slot.known == nullptr || slot.known->record != record) set(shard, place, std::move(record));
  entry.revision = revision;
  believe(slot, now - age);
  KnownPtr known = slot.known;
  make_room(shard, print);
  return known;
}

void Cache::restore(const partners::Subject& subject, partners::Record record, std::int64_t revision) {
  const Fingerprint print = print_of(subject);
  Shard& shard = shard_of(print);
  const std::lock_guard lock(shard.lock);
  const Place place = place_of(shard, print, subject);
  if (place.slot.known != nullptr) return;
  set(shard, place, std::move(record));
  place.entry.revision = revision;
  place.slot.expires = place.slot.due = Instant::min();
  make_room(shard, print);
}

void Cache::replace(const partners::Subject& subject, const KnownPtr& before, KnownPtr after) {
  const Fingerprint print = print_of(subject);
  Shard& shard = shard_of(print);
  const std::lock_guard lock(shard.lock);
  Slot* const slot = shard.slots.find(print);
  if (slot != nullptr && slot->known == before) slot->known = std::move(after);
}

bool Cache::expire(const partners::Subject& subject, std::int64_t revision) {
  const Fingerprint print = print_of(subject);
  Shard& shard = shard_of(print);
  const std::lock_guard lock(shard.lock);
  const auto [slot, entry] = place_of(shard, print, subject);
  entry.least_revision = std::max(entry.least_revision, revision);
  const bool known = slot.known != nullptr;
  if (known && entry.revision < revision) slot.expires = slot.due = Instant::min();
  make_room(shard, print);
  return known;
}

void Cache::rewind(std::int64_t newest) {
  for (Shard& shard : shards_) {
    const std::lock_guard lock(shard.lock);
    shard.slots.each([&](Slot& slot) {
      Entry& entry = shard.entries[slot.entry];
      if (std::max(entry.revision, entry.least_revision) <= newest) return;
      entry.revision = entry.least_revision = 0;
      slot.expires = slot.due = Instant::min();
    });
  }
  forgotten_.store(0, std::memory_order_relaxed);
}

// A shard is locked for as long as it takes to copy pointers and names.
void Cache::each(const Visit& visit) const {
  struct Copy {
    partners::Subject subject;
    KnownPtr known;
    std::int64_t revision;
  };
  std::vector<Copy> copies;
  for (Shard& shard : shards_) {
    copies.clear();
    {
      const std::lock_guard lock(shard.lock);
      shard.slots.each([&](const Slot& slot) {
        const Entry& entry = shard.entries[slot.entry];
        const bool there = slot.known != nullptr && !slot.known->absent();
        if (there) copies.push_back({entry.subject, slot.known, entry.revision});
      });
    }
    for (const Copy& copy : copies) visit(copy.subject, copy.known->record, copy.revision);
  }
}

Fingerprint Cache::print_of(const partners::Subject& subject) const {
  Fingerprint print = fingerprint(key_, subject.name);
  print.high += static_cast<std::uint64_t>(subject.kind);
  return print;
}

// What is not here may have changed and been forgotten.
bool Cache::is_outdated(Shard& shard, const Fingerprint& print, std::int64_t revision) const {
  const Slot* const slot = shard.slots.find(print);
  if (slot == nullptr) return revision < forgotten();
  const Entry& entry = shard.entries[slot->entry];
  return revision < std::max(entry.least_revision, entry.revision);
}

Cache::Place Cache::place_of(Shard& shard, const Fingerprint& print, const partners::Subject& subject) {
  if (Slot* const slot = shard.slots.find(print)) return {*slot, shard.entries[slot->entry]};
  Slot& slot = shard.slots.add(print, static_cast<std::uint32_t>(shard.entries.size()));
  Entry& entry = shard.entries.emplace_back(Entry{.print = print, .subject = subject});
  shard.weight += entry.weight;
  size_.fetch_add(1, std::memory_order_relaxed);
  return {slot, entry};
}

void Cache::set(Shard& shard, const Place& place, partners::Record record) {
  const auto& [slot, entry] = place;
  shard.weight -= entry.weight;
  entry.weight = weight_of(record);
  shard.weight += entry.weight;
  slot.known = known_of(std::move(record));
  slot.asked_for = !slot.known->absent();  // guesses push each other out first
  changes_.fetch_add(1, std::memory_order_relaxed);
}

// It is looked up again at some time in the last fifth of its life.
void Cache::believe(Slot& slot, Instant since) const {
  const nanoseconds life = lifetimes_.of(slot.known->record);
  const std::int64_t jitter = jitter_of(slot.print);
  slot.due = since + life * 4 / 5 + life / 5 * jitter / 1024 / 2;
  slot.expires = since + life * 9 / 10 + life / 10 * jitter / 1024;
}

void Cache::forget(std::int64_t change) {
  std::int64_t newest = forgotten_.load(std::memory_order_relaxed);
  while (change > newest && !forgotten_.compare_exchange_weak(newest, change, std::memory_order_relaxed)) {
  }
}

// What came last is not what goes: it takes the place of what does, where the hand stays. So of guesses the last one
// makes room for the next, and nothing else does.
void Cache::make_room(Shard& shard, const Fingerprint& kept) {
  while (shard.weight > most_ && shard.entries.size() > 1) {
    if (shard.hand >= shard.entries.size()) shard.hand = 0;
    const Fingerprint& print = shard.entries[shard.hand].print;
    if (print == kept || std::exchange(shard.slots.find(print)->asked_for, false)) {
      ++shard.hand;
    } else {
      erase(shard, shard.hand);
    }
  }
}

// The last entry takes its place.
void Cache::erase(Shard& shard, std::size_t entry) {
  Entry& gone = shard.entries[entry];
  shard.weight -= gone.weight;
  forget(gone.least_revision);
  shard.slots.erase(gone.print);
  if (entry + 1 < shard.entries.size()) {
    gone = std::move(shard.entries.back());
    shard.slots.find(gone.print)->entry = static_cast<std::uint32_t>(entry);
  }
  shard.entries.pop_back();
  size_.fetch_sub(1, std::memory_order_relaxed);
  evictions_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace weir::lookup
