// SPDX-License-Identifier: Apache-2.0
//
// Text that is put together from pieces on the data path. What std::string does not give: literals whose size is
// known are copied in place, numbers are written without a detour, and the memory is kept from one use to the
// next. Thread safety: a plain value.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace weir {

class Text {
 public:
  static constexpr std::size_t kMostDigits = 20;

  Text() = default;
  explicit Text(std::string_view text) { append(text); }

  Text& append(std::string_view text) {
    room(text.size());
    if (!text.empty()) std::memcpy(data_.get() + size_, text.data(), text.size());
    size_ += text.size();
    return *this;
  }
  template <std::size_t N>
  Text& append(const char (&literal)[N]) {
    room(N - 1);
    std::memcpy(data_.get() + size_, literal, N - 1);
    size_ += N - 1;
    return *this;
  }
  Text& append(char c) {
    room(1);
    data_[size_++] = c;
    return *this;
  }
  // Decimal digits. Requires: value >= 0.
  Text& number(std::int64_t value);
  // At least `width` decimal digits, with leading zeros.
  Text& padded(std::int64_t value, std::size_t width);
  // What stands at `at`, `size` bytes long, becomes `text`.
  void replace(std::size_t at, std::size_t size, std::string_view text);

  std::string_view view() const { return {data_.get(), size_}; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  void clear() { size_ = 0; }
  // Requires: size <= size().
  void cut(std::size_t size) { size_ = size; }
  std::size_t capacity() const { return capacity_; }
  // Gives the memory back.
  void release();

 private:
  void room(std::size_t bytes) {
    if (capacity_ - size_ < bytes) grow(bytes);
  }
  void grow(std::size_t bytes);

  std::unique_ptr<char[]> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace weir
