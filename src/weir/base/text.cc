// SPDX-License-Identifier: Apache-2.0
#include "weir/base/text.h"

#include <algorithm>
#include <array>

namespace weir {
namespace {

constexpr std::size_t kLeast = 512;

constexpr auto kPairs = [] {
  std::array<char, 200> pairs{};
  for (std::size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

// Writes the digits so that they end at `end`; returns where they begin.
char* write_backwards(char* end, std::uint64_t value) {
  while (value >= 100) {
    end -= 2;
    std::memcpy(end, kPairs.data() + 2 * (value % 100), 2);
    value /= 100;
  }
  if (value < 10) {
    *--end = static_cast<char>('0' + value);
    return end;
  }
  end -= 2;
  std::memcpy(end, kPairs.data() + 2 * value, 2);
  return end;
}

}  // namespace

Text& Text::number(std::int64_t value) {
  if (value >= 0 && value < 10) return append(static_cast<char>('0' + value));
  return padded(value, 1);
}

Text& Text::padded(std::int64_t value, std::size_t width) {
  std::array<char, kMostDigits> digits;
  char* const end = digits.data() + digits.size();
  char* begin = write_backwards(end, static_cast<std::uint64_t>(value));
  while (static_cast<std::size_t>(end - begin) < width) *--begin = '0';
  return append(std::string_view(begin, static_cast<std::size_t>(end - begin)));
}

void Text::replace(std::size_t at, std::size_t size, std::string_view text) {
  if (text.size() > size) room(text.size() - size);
  std::memmove(data_.get() + at + text.size(), data_.get() + at + size, size_ - at - size);
  std::memcpy(data_.get() + at, text.data(), text.size());
  size_ = size_ - size + text.size();
}

void Text::release() {
  data_.reset();
  size_ = capacity_ = 0;
}

void Text::grow(std::size_t bytes) {
  const std::size_t wanted = std::max({kLeast, 2 * capacity_, size_ + bytes});
  auto moved = std::make_unique_for_overwrite<char[]>(wanted);
  if (size_ > 0) std::memcpy(moved.get(), data_.get(), size_);
  data_ = std::move(moved);
  capacity_ = wanted;
}

}  // namespace weir
