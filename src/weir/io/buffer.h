// SPDX-License-Identifier: Apache-2.0
//
// Bytes on their way: appended at the end, taken from the front, with 32 readable bytes behind the content for
// parsers that look ahead. Gives its memory back when told so. Thread safety: a plain resource.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

namespace weir::io {

class Buffer {
 public:
  static constexpr std::size_t kSlack = 32;

  bool empty() const { return begin_ == end_; }
  std::size_t size() const { return end_ - begin_; }
  std::string_view view() const { return {data_.get() + begin_, size()}; }

  void append(std::string_view bytes) {
    if (bytes.empty()) return;
    std::memcpy(reserve(bytes.size()).data(), bytes.data(), bytes.size());
    end_ += bytes.size();
  }
  void consume(std::size_t bytes) {
    begin_ += bytes;
    if (begin_ == end_) begin_ = end_ = 0;
  }
  // Room for at least `bytes` more; what was written there counts after `commit`. Moves the content.
  std::span<char> reserve(std::size_t bytes) {
    if (end_ + bytes + kSlack > capacity_) grow(bytes);
    return {data_.get() + end_, capacity_ - kSlack - end_};
  }
  void commit(std::size_t bytes) { end_ += bytes; }
  void clear() { begin_ = end_ = 0; }
  void release() {
    data_.reset();
    begin_ = end_ = capacity_ = 0;
  }
  std::size_t capacity() const { return capacity_; }

 private:
  void grow(std::size_t bytes) {
    const std::size_t held = size();
    if (held + bytes + kSlack <= capacity_) {
      std::memmove(data_.get(), data_.get() + begin_, held);
    } else {
      const std::size_t wanted = std::max<std::size_t>({512, 2 * capacity_, held + bytes + kSlack});
      auto moved = std::make_unique<char[]>(wanted);  // zeroed: parsers may look at the slack
      if (held > 0) std::memcpy(moved.get(), data_.get() + begin_, held);
      data_ = std::move(moved);
      capacity_ = wanted;
    }
    begin_ = 0;
    end_ = held;
  }

  std::unique_ptr<char[]> data_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace weir::io
