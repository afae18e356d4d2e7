// SPDX-License-Identifier: Apache-2.0
//
// A queue of small entries on the heap that one word of state owns: 0 is the empty queue, which has no memory. It
// grows by doubling up to `most` entries and shrinks when three quarters are unused. Internal to this folder.
// Thread safety: whoever holds the state.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace weir::limit {

// `Note`: what is kept once for all entries. All its bytes zero: an empty queue's.
template <class Entry, class Note>
class Entries {
  static_assert(std::is_trivially_copyable_v<Entry> && std::is_trivially_copyable_v<Note>);

 public:
  // Whatever is done to the queue is done to `word`.
  explicit Entries(std::int64_t& word) : word_(word), block_(std::bit_cast<Block*>(word)) {}

  std::uint32_t size() const { return block_ == nullptr ? 0 : block_->size; }
  bool empty() const { return size() == 0; }
  // Requires: i < size().
  Entry& operator[](std::uint32_t i) const { return entries()[wrapped(block_->head + i)]; }
  Entry& back() const { return (*this)[size() - 1]; }
  Note note() const { return block_ == nullptr ? Note{} : block_->note; }
  // Requires: not empty().
  void set_note(const Note& note) { block_->note = note; }

  // Requires: size() < most.
  void push_back(const Entry& entry, std::uint32_t most) {
    if (block_ == nullptr || block_->size == block_->capacity) {
      resize(block_ == nullptr ? std::min(kFewest, most)
                               : std::min(block_->capacity * 2, std::max(most, size() + 1)));
    }
    entries()[wrapped(block_->head + block_->size++)] = entry;
  }
  // Before the entry that is there, or at the end. Requires: at <= size(), size() < most.
  void insert(std::uint32_t at, const Entry& entry, std::uint32_t most) {
    push_back(entry, most);
    for (std::uint32_t i = size() - 1; i > at; --i) std::swap((*this)[i], (*this)[i - 1]);
  }
  void drop_front(std::uint32_t count) {
    if (count == 0) return;
    block_->head = wrapped(block_->head + count);
    block_->size -= count;
    shrink();
  }
  // Keeps the order of the others.
  void erase(std::uint32_t at) {
    for (std::uint32_t i = at; i + 1 < size(); ++i) (*this)[i] = (*this)[i + 1];
    --block_->size;
    shrink();
  }
  template <class Ended>
  void erase_if(Ended ended) {
    if (block_ == nullptr) return;
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < size(); ++i) {
      if (ended((*this)[i])) continue;
      if (kept < i) (*this)[kept] = (*this)[i];
      ++kept;
    }
    if (kept == size()) return;
    block_->size = kept;
    shrink();
  }
  void release() {
    std::free(block_);
    bind(nullptr);
  }

  std::uint64_t bytes() const {
    return block_ == nullptr ? 0 : sizeof(Block) + std::uint64_t{block_->capacity} * sizeof(Entry);
  }

 private:
  static constexpr std::uint32_t kFewest = 2;

  struct Block {
    std::uint32_t size;
    std::uint32_t capacity;
    std::uint32_t head;
    Note note;
  };
  static_assert(sizeof(Block*) == sizeof(std::int64_t), "a word of state holds a pointer");
  static_assert(sizeof(Block) % alignof(Entry) == 0);

  Entry* entries() const { return reinterpret_cast<Entry*>(block_ + 1); }
  std::uint32_t wrapped(std::uint32_t i) const { return i >= block_->capacity ? i - block_->capacity : i; }
  void bind(Block* block) {
    block_ = block;
    word_ = std::bit_cast<std::int64_t>(block);
  }
  void shrink() {
    if (block_->size == 0) return release();
    if (block_->size <= block_->capacity / 4 && block_->capacity > kFewest) resize(block_->capacity / 2);
  }
  void resize(std::uint32_t capacity) {
    assert(capacity >= size() && capacity > 0);
    auto* const fresh = static_cast<Block*>(std::malloc(sizeof(Block) + std::size_t{capacity} * sizeof(Entry)));
    if (fresh == nullptr) throw std::bad_alloc();
    *fresh = {size(), capacity, 0, note()};
    auto* const to = reinterpret_cast<Entry*>(fresh + 1);
    for (std::uint32_t i = 0; i < fresh->size; ++i) to[i] = (*this)[i];
    std::free(block_);
    bind(fresh);
  }

  std::int64_t& word_;
  Block* block_;
};

}  // namespace weir::limit
