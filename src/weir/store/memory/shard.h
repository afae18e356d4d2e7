// SPDX-License-Identifier: Apache-2.0
//
// One part of a table: a flat array of records, and beside it an array with one byte of every record's key, its tag.
// Both are searched linearly from where the key points, the tags eight at a time; so a search touches hardly ever
// another record than the one it looks for. At most 7/8 of the places are taken. An erased record is filled by its
// followers, there are no tombstones. Nothing is allocated before the first record.
// Thread safety: everything but prefetch, size and bytes requires `lock` to be held.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>

#include "weir/base/fingerprint.h"
#include "weir/base/spin_lock.h"
#include "weir/limit/outcome.h"
#include "weir/store/memory/generation.h"

namespace weir::store {

class alignas(64) Shard {
 public:
  Shard() = default;
  ~Shard();
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  SpinLock lock;

  // Asks the processor for the lines where a record probably is, while the lock is still being taken: most records
  // stand at their home or within the line after it.
  void prefetch(const Fingerprint& key) const {
    const std::uint64_t place = home(key.low);
    __builtin_prefetch(tags_.load(std::memory_order_relaxed) + place);
    const Word* record = at(place);
    if (record == nullptr) return;  // nothing was ever kept here
    __builtin_prefetch(record, 1);
    __builtin_prefetch(record + kLineWords, 1);
  }

  bool uses(const Generation& generation) const { return generation_ == &generation; }
  // Lays the records out for `generation` and drops those that are full. Returns how many it dropped.
  std::size_t use(const Generation& generation, const limit::Call& call);

  // The record or null.
  Word* find(const Fingerprint& key) const;

  // Makes a record that was never used. Other records may move, and full ones be dropped: `dropped` is increased.
  // Requires: find(key) is null, a generation in use.
  Word* insert(const Fingerprint& key, const limit::Call& call, std::size_t& dropped);

  void erase(Word* record);

  // Drops all records that are full; gives memory back when few are left. Returns how many it dropped.
  std::size_t sweep(const limit::Call& call);

  // Makes room: of the next few records drops all that are full, or else the one that is nearest to it.
  // Requires: size() > 0.
  struct Evicted {
    std::size_t full = 0;
    std::size_t live = 0;
  };
  Evicted evict(const limit::Call& call);

  // The memory that records own has changed by so many bytes.
  void count_owned(std::int64_t bytes) {
    owned_.store(owned_.load(std::memory_order_relaxed) + static_cast<std::uint64_t>(bytes),
                 std::memory_order_relaxed);
  }

  std::uint32_t size() const { return size_.load(std::memory_order_relaxed); }
  std::uint64_t bytes() const;  // what records own included

 private:
  static constexpr std::uint64_t kLineWords = 64 / sizeof(Word);
  static constexpr std::uint32_t kGroup =
      8;  // tags looked at together; the first of them stand behind the last again
  static constexpr std::uint64_t kLowBits = 0x0101010101010101;

  static std::uint8_t tag_of(std::uint64_t high) { return std::max<std::uint8_t>(1, high >> 56); }  // 0: a free place
  // A bit for every byte of `group` that equals `tag`; bits above the lowest may be wrong.
  static std::uint64_t matches(std::uint64_t group, std::uint8_t tag) {
    const std::uint64_t differing = group ^ (kLowBits * tag);
    return (differing - kLowBits) & ~differing & (kLowBits << 7);
  }
  std::uint64_t group_at(std::uint64_t place) const {
    std::uint64_t group;
    std::memcpy(&group, tags_.load(std::memory_order_relaxed) + place, sizeof group);
    if constexpr (std::endian::native == std::endian::big) group = __builtin_bswap64(group);
    return group;
  }

  std::uint32_t places() const { return places_.load(std::memory_order_relaxed); }
  std::uint32_t stride() const { return stride_.load(std::memory_order_relaxed); }
  std::uint64_t home(std::uint64_t low) const {
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(low) * places() >> 64);
  }
  Word* at(std::uint64_t place) const { return records_.load(std::memory_order_relaxed) + place * stride(); }
  bool taken(std::uint64_t place) const { return tags_.load(std::memory_order_relaxed)[place] != 0; }
  std::uint64_t wrapped(std::uint64_t place) const { return place >= places() ? place - places() : place; }
  std::uint64_t next(std::uint64_t place) const { return wrapped(place + 1); }

  void mark(std::uint64_t place, std::uint8_t tag);
  Word* take_place(const Fingerprint& key);
  void erase_at(std::uint64_t hole);
  std::uint32_t live(const limit::Call& call) const;
  std::size_t rebuild(const Generation& generation, std::uint32_t wanted, const limit::Call& call);
  void resize_to(std::uint32_t records) { size_.store(records, std::memory_order_relaxed); }

  // Written under the lock only; atomic because prefetch and bytes look without it.
  std::atomic<std::uint32_t> places_{0};
  std::atomic<std::uint32_t> stride_{0};  // words of a record
  std::atomic<Word*> records_{nullptr};
  std::atomic<std::uint8_t*> tags_{nullptr};  // behind the records, in the same piece of memory
  const Generation* generation_ = nullptr;
  std::atomic<std::uint32_t> size_{0};
  std::uint32_t hand_ = 0;  // where evict goes on
  std::atomic<std::uint64_t> owned_{0};
};
static_assert(sizeof(Shard) == 64);

[[gnu::always_inline]] inline Word* Shard::find(const Fingerprint& key) const {
  if (places() == 0) return nullptr;
  const std::uint8_t tag = tag_of(key.high);
  for (std::uint64_t place = home(key.low);; place = wrapped(place + kGroup)) {
    const std::uint64_t group = group_at(place);
    for (std::uint64_t left = matches(group, tag); left != 0; left &= left - 1) {
      Word* record = at(wrapped(place + static_cast<std::uint64_t>(std::countr_zero(left)) / 8));
      if (record[0] == static_cast<Word>(key.low) && record[1] == static_cast<Word>(key.high)) return record;
    }
    if (matches(group, 0) != 0) return nullptr;
  }
}

}  // namespace weir::store
