// SPDX-License-Identifier: Apache-2.0
#include "weir/lookup/cache.h"

#include <algorithm>
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
    : most_(std::max<std::size_t>(most / kShards, 16)), lifetimes_(lifetimes) {}

Found Cache::find(const partners::Subject& subject, Instant now) {
  const Fingerprint print = print_of(subject);
  Shard& shard = shard_of(print);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.entries.find(print);
  if (found == shard.entries.end() || found->second.known == nullptr) return {};
  Entry& entry = found->second;
  entry.asked_for = true;
  if (now >= entry.expires) return {entry.known, Freshness::kExpired};
  if (now < entry.due) return {entry.known, Freshness::kFresh};
  entry.due = now + kDueAgain;
  return {entry.known, Freshness::kDue};
}

bool Cache::put(const partners::Subject& subject, partners::Record record, std::int64_t revision, Instant now,
                nanoseconds age) {
  const Fingerprint print = print_of(subject);
  Shard& shard = shard_of(print);
  const std::lock_guard lock(shard.mutex);
  Entry& entry = entry_of(shard, print, subject);
  if (revision < std::max(entry.least_revision, entry.revision)) return false;
  if (age > lifetimes_.of(record) / 2) return false;
  if (entry.known == nullptr || entry.known->record != record) set(shard, entry, std::move(record));
  entry.revision = revision;
  believe(entry, print, now - age);
  make_room(shard);
  return true;
}

void Cache::restore(const partners::Subject& subject, partners::Record record, std::int64_t revision) {
  const Fingerprint print = print_of(subject);
  Shard& shard = shard_of(print);
  const std::lock_guard lock(shard.mutex);
  Entry& entry = entry_of(shard, print, subject);
  if (entry.known != nullptr) return;
  set(shard, entry, std::move(record));
  entry.revision = revision;
  entry.expires = entry.due = Instant::min();
  make_room(shard);
}

void Cache::replace(const partners::Subject& subject, const KnownPtr& before, KnownPtr after) {
  const Fingerprint print = print_of(subject);
  Shard& shard = shard_of(print);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.entries.find(print);
  if (found != shard.entries.end() && found->second.known == before) found->second.known = std::move(after);
}

bool Cache::expire(const partners::Subject& subject, std::int64_t revision) {
  const Fingerprint print = print_of(subject);
  Shard& shard = shard_of(print);
  const std::lock_guard lock(shard.mutex);
  Entry& entry = entry_of(shard, print, subject);
  entry.least_revision = std::max(entry.least_revision, revision);
  const bool known = entry.known != nullptr;
  if (known && entry.revision < revision) entry.expires = entry.due = Instant::min();
  make_room(shard);
  return known;
}

void Cache::rewind(std::int64_t newest) {
  for (Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    for (auto& [print, entry] : shard.entries) {
      if (std::max(entry.revision, entry.least_revision) <= newest) continue;
      entry.revision = entry.least_revision = 0;
      entry.expires = entry.due = Instant::min();
    }
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
      const std::lock_guard lock(shard.mutex);
      for (const auto& [print, entry] : shard.entries) {
        if (entry.known != nullptr && !entry.known->absent()) {
          copies.push_back({entry.subject, entry.known, entry.revision});
        }
      }
    }
    for (const Copy& copy : copies) visit(copy.subject, copy.known->record, copy.revision);
  }
}

Fingerprint Cache::print_of(const partners::Subject& subject) const {
  Fingerprint print = fingerprint(key_, subject.name);
  print.high += static_cast<std::uint64_t>(subject.kind);
  return print;
}

Cache::Entry& Cache::entry_of(Shard& shard, const Fingerprint& print, const partners::Subject& subject) {
  const auto [place, is_new] = shard.entries.try_emplace(print);
  Entry& entry = place->second;
  if (!is_new) return entry;
  entry.subject = subject;
  shard.ring.push_back(print);
  shard.weight += entry.weight;
  size_.fetch_add(1, std::memory_order_relaxed);
  return entry;
}

void Cache::set(Shard& shard, Entry& entry, partners::Record record) {
  shard.weight -= entry.weight;
  entry.weight = weight_of(record);
  shard.weight += entry.weight;
  entry.known = std::make_shared<const Known>(Known{.record = std::move(record), .compiled_for = 0, .rows = {}});
  entry.asked_for = !entry.known->absent();  // guesses push each other out first
  changes_.fetch_add(1, std::memory_order_relaxed);
}

// It is looked up again at some time in the last fifth of its life.
void Cache::believe(Entry& entry, const Fingerprint& print, Instant since) const {
  const nanoseconds life = lifetimes_.of(entry.known->record);
  const std::int64_t jitter = jitter_of(print);
  entry.due = since + life * 4 / 5 + life / 5 * jitter / 1024 / 2;
  entry.expires = since + life * 9 / 10 + life / 10 * jitter / 1024;
}

void Cache::forget(std::int64_t change) {
  std::int64_t newest = forgotten_.load(std::memory_order_relaxed);
  while (change > newest && !forgotten_.compare_exchange_weak(newest, change, std::memory_order_relaxed)) {
  }
}

void Cache::make_room(Shard& shard) {
  while (shard.weight > most_ && shard.ring.size() > 1) {
    if (shard.hand >= shard.ring.size()) shard.hand = 0;
    const auto place = shard.entries.find(shard.ring[shard.hand]);
    if (std::exchange(place->second.asked_for, false)) {
      ++shard.hand;
      continue;
    }
    shard.weight -= place->second.weight;
    forget(place->second.least_revision);
    shard.entries.erase(place);
    shard.ring[shard.hand] = shard.ring.back();
    shard.ring.pop_back();
    size_.fetch_sub(1, std::memory_order_relaxed);
    evictions_.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace weir::lookup
