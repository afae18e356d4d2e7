// SPDX-License-Identifier: Apache-2.0
//
// For tests and fuzzers: bytes in a heap block of their own with exactly the room behind them that the parsers ask
// for, so that a sanitizer sees every step beyond it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>

namespace weir::http {

class PaddedBytes {
 public:
  static constexpr std::size_t kPadding = 32;

  // `filler` is what stands in the padding: it must not matter.
  explicit PaddedBytes(std::string_view content, char filler = '\n')
      : size_(content.size()), block_(std::make_unique<char[]>(content.size() + kPadding)) {
    std::ranges::copy(content, block_.get());
    std::fill_n(block_.get() + size_, kPadding, filler);
  }

  std::string_view view() const { return {block_.get(), size_}; }

 private:
  std::size_t size_;
  std::unique_ptr<char[]> block_;
};

}  // namespace weir::http
