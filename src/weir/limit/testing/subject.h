// SPDX-License-Identifier: Apache-2.0
//
// A limit with the state of one subject, as a store would keep it. A copy is deep, so that a test can ask what would
// happen if; what a state owns is one block of memory that can be copied as bytes (entries.h).
// Thread safety: one thread.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>

#include "weir/limit/limit.h"

namespace weir::limit {

class Subject {
 public:
  explicit Subject(Limit limit) : limit_(std::move(limit)) {}
  Subject(const Subject& other) : limit_(other.limit_), state_(other.state_) {
    const std::uint64_t owned = other.owned_bytes();
    if (owned == 0) return;
    void* block = std::malloc(owned);
    std::memcpy(block, std::bit_cast<void*>(other.state_[0]), owned);
    state_[0] = std::bit_cast<std::int64_t>(block);
  }
  Subject& operator=(const Subject&) = delete;
  ~Subject() { limit_.release(state_); }

  Outcome step(const Call& call, Cost cost) { return limit_.step(state_, call, cost); }
  Outcome peek(const Call& call) const { return limit_.peek(state_, call); }
  void give_back(const Call& call, Cost cost, Ticks at) { limit_.give_back(state_, call, cost, at); }
  void take(const Call& call, Cost cost, Ticks at) { limit_.take(state_, call, cost, at); }
  bool renew(const Call& call) { return limit_.renew(state_, call); }
  bool is_initial(const Call& call) const { return limit_.is_initial(state_, call); }

  // Whether this cost would pass; leaves everything as it is.
  bool would_admit(const Call& call, Cost cost) const { return Subject(*this).step(call, cost).admitted; }

  // Goes on under another limit.
  Subject carried_to(const Limit& limit, const Call& call) const {
    Subject old(*this);
    Subject carried(limit);
    limit.carry(limit_, old.state_, carried.state_, call);
    old.state_ = {};  // what it owned has moved
    return carried;
  }

  // Whether the states are the same to the byte, what they own included.
  bool same_bytes(const Subject& other) const {
    const std::uint64_t owned = owned_bytes();
    if (owned != other.owned_bytes()) return false;
    if (owned == 0) return state_ == other.state_;
    return std::memcmp(std::bit_cast<void*>(state_[0]), std::bit_cast<void*>(other.state_[0]), owned) == 0;
  }

  const Limit& limit() const { return limit_; }
  std::uint64_t owned_bytes() const { return limit_.owned_bytes(state_); }
  std::span<std::int64_t> words() { return std::span(state_).first(static_cast<std::size_t>(limit_.state_words())); }

 private:
  Limit limit_;
  std::array<std::int64_t, Limit::kMaxStateWords> state_{};
};

}  // namespace weir::limit
