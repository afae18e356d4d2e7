// SPDX-License-Identifier: Apache-2.0
#include "weir/config/source.h"

#include <algorithm>

namespace weir::config {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

}  // namespace

Source::Source(std::string file, std::string_view text)
    : file_(std::move(file)), text_(text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text) {
  line_starts_.push_back(0);
  for (std::size_t end = text_.find('\n'); end != text_.npos; end = text_.find('\n', end + 1)) {
    line_starts_.push_back(end + 1);
  }
}

std::string_view Source::line(int number) const {
  if (number < 1 || static_cast<std::size_t>(number) > line_starts_.size()) return {};
  const std::size_t start = line_starts_[static_cast<std::size_t>(number) - 1];
  std::string_view line = std::string_view(text_).substr(start, text_.find('\n', start) - start);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

int Source::column_in_characters(const Place& place) const {
  const std::string_view before = line(place.line).substr(0, static_cast<std::size_t>(std::max(place.column - 1, 0)));
  return place.column - static_cast<int>(std::ranges::count_if(before, is_continuation));
}

std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const unsigned second = byte(1);
  const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool beyond = (lead == 0xed && second > 0x9f) || (lead == 0xf4 && second > 0x8f);
  return overlong || beyond ? 0 : length;
}

}  // namespace weir::config
