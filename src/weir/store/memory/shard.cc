// SPDX-License-Identifier: Apache-2.0
#include "weir/store/memory/shard.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace weir::store {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::uint32_t kFewestPlaces = 8;
constexpr std::uint32_t kEvictProbes = 16;  // records compared to find the one nearest to full

bool has_room(std::uint64_t size, std::uint64_t places) { return size * 8 <= places * 7; }

// Places for `size` records that need no rebuild until they have become 1.3 times as many.
std::uint32_t places_for(std::uint32_t size) {
  const std::uint64_t wanted = std::uint64_t{size} * 3 / 2 + 1;
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(wanted, kFewestPlaces));
}

Word* allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  void* memory = std::aligned_alloc(kLine, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return static_cast<Word*>(std::memset(memory, 0, bytes));
}

Fingerprint key_of(const Word* record) {
  return {static_cast<std::uint64_t>(record[0]), static_cast<std::uint64_t>(record[1])};
}

std::size_t bytes_of(std::uint64_t places, std::uint64_t stride, std::uint64_t group) {
  if (places == 0) return 0;
  return (places * stride * sizeof(Word) + places + group + kLine - 1) / kLine * kLine;
}

}  // namespace

Shard::~Shard() {
  for (std::uint64_t place = 0; place < places(); ++place) {
    if (taken(place)) generation_->release(at(place));
  }
  std::free(records_.load(std::memory_order_relaxed));
}

std::uint64_t Shard::bytes() const {
  return bytes_of(places(), stride(), kGroup) + owned_.load(std::memory_order_relaxed);
}

void Shard::mark(std::uint64_t place, std::uint8_t tag) {
  std::uint8_t* tags = tags_.load(std::memory_order_relaxed);
  tags[place] = tag;
  if (place < kGroup) tags[places() + place] = tag;
}

Word* Shard::take_place(const Fingerprint& key) {
  std::uint64_t place = home(key.low);
  while (taken(place)) place = next(place);
  mark(place, tag_of(key.high));
  return at(place);
}

Word* Shard::insert(const Fingerprint& key, const limit::Call& call, std::size_t& dropped) {
  if (!has_room(size() + 1, places())) dropped += rebuild(*generation_, places_for(live(call) + 1), call);
  Word* record = take_place(key);
  record[0] = static_cast<Word>(key.low);
  record[1] = static_cast<Word>(key.high);
  resize_to(size() + 1);
  return record;
}

void Shard::erase(Word* record) {
  erase_at(static_cast<std::uint64_t>(record - records_.load(std::memory_order_relaxed)) / stride());
}

// Moves back every follower that may stand nearer to its home, until a free place ends the run.
void Shard::erase_at(std::uint64_t hole) {
  count_owned(-static_cast<std::int64_t>(generation_->owned_bytes(at(hole))));
  generation_->release(at(hole));
  const std::size_t bytes = stride() * sizeof(Word);
  const auto distance = [&](std::uint64_t from, std::uint64_t to) {
    return to >= from ? to - from : to + places() - from;
  };
  for (std::uint64_t place = next(hole); taken(place); place = next(place)) {
    const Fingerprint key = key_of(at(place));
    if (distance(home(key.low), place) < distance(hole, place)) continue;
    std::memcpy(at(hole), at(place), bytes);
    mark(hole, tag_of(key.high));
    hole = place;
  }
  std::memset(at(hole), 0, bytes);
  mark(hole, 0);
  resize_to(size() - 1);
}

std::uint32_t Shard::live(const limit::Call& call) const {
  std::uint32_t count = 0;
  for (std::uint64_t place = 0; place < places(); ++place) {
    if (taken(place) && !generation_->is_initial(at(place), call)) ++count;
  }
  return count;
}

std::size_t Shard::sweep(const limit::Call& call) {
  if (size() == 0) return 0;
  const std::uint32_t left = live(call);
  const std::uint32_t wanted = left == 0 ? 0 : places_for(left);
  if (wanted < places() / 2) return rebuild(*generation_, wanted, call);
  const std::size_t dropped = size() - left;
  for (std::uint64_t place = 0; size() > left;) {
    const bool drop = taken(place) && generation_->is_initial(at(place), call);
    drop ? erase_at(place) : void(++place);  // a follower may have moved in: look again
  }
  return dropped;
}

Shard::Evicted Shard::evict(const limit::Call& call) {
  Evicted evicted;
  std::uint64_t nearest = 0;
  limit::Ticks shortest = INT64_MAX;
  std::uint64_t place = hand_ < places() ? hand_ : 0;
  for (std::uint32_t left = std::min(kEvictProbes, size()); left > 0;) {
    if (!taken(place)) {
      place = next(place);
      continue;
    }
    --left;
    const limit::Ticks wait = generation_->reset_after(at(place), call);
    if (wait == 0) {
      erase_at(place);
      ++evicted.full;
      continue;
    }
    if (wait < shortest) {
      shortest = wait;
      nearest = place;
    }
    place = next(place);
  }
  hand_ = static_cast<std::uint32_t>(place);
  if (evicted.full > 0) return evicted;
  erase_at(nearest);
  evicted.live = 1;
  return evicted;
}

std::size_t Shard::use(const Generation& generation, const limit::Call& call) {
  if (size() > 0) return rebuild(generation, places(), call);
  std::free(records_.exchange(nullptr, std::memory_order_relaxed));
  places_.store(0, std::memory_order_relaxed);
  stride_.store(generation.record_words(), std::memory_order_relaxed);
  generation_ = &generation;
  return 0;
}

// Requires: `wanted` places have room for all records that are not full.
std::size_t Shard::rebuild(const Generation& generation, std::uint32_t wanted, const limit::Call& call) {
  const std::uint32_t old_places = places();
  const std::uint32_t old_stride = stride();
  const std::uint32_t old_size = size();
  const Generation& from = *generation_;
  Word* const old = records_.load(std::memory_order_relaxed);
  const std::uint8_t* const old_tags = tags_.load(std::memory_order_relaxed);

  Word* const fresh = allocate(bytes_of(wanted, generation.record_words(), kGroup));
  records_.store(fresh, std::memory_order_relaxed);
  tags_.store(reinterpret_cast<std::uint8_t*>(fresh + std::size_t{wanted} * generation.record_words()),
              std::memory_order_relaxed);
  places_.store(wanted, std::memory_order_relaxed);
  stride_.store(generation.record_words(), std::memory_order_relaxed);
  generation_ = &generation;
  resize_to(0);
  std::uint64_t owned = 0;
  for (std::uint32_t place = 0; place < old_places; ++place) {
    Word* record = old + std::size_t{place} * old_stride;
    if (old_tags[place] == 0) continue;
    if (from.is_initial(record, call)) {
      from.release(record);
      continue;
    }
    Word* const moved = take_place(key_of(record));
    generation.convert(from, record, moved, call);
    owned += generation.owned_bytes(moved);
    resize_to(size() + 1);
  }
  owned_.store(owned, std::memory_order_relaxed);
  std::free(old);
  return old_size - size();
}

}  // namespace weir::store
