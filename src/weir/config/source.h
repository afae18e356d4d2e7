// SPDX-License-Identifier: Apache-2.0
//
// The text of a configuration file, cut into lines for messages. Thread safety: immutable.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weir::config {

// A position in the text. Both count from 1; the column counts bytes. Line 0 is the whole file.
struct Place {
  int line = 0;
  int column = 0;

  auto operator<=>(const Place&) const = default;
};

class Source {
 public:
  Source(std::string file, std::string_view text);

  const std::string& file() const { return file_; }
  const std::string& text() const { return text_; }

  // Without its line end; empty where there is no such line.
  std::string_view line(int number) const;
  // The column in characters (code points) instead of bytes.
  int column_in_characters(const Place& place) const;

 private:
  std::string file_;
  std::string text_;  // without a byte order mark
  std::vector<std::size_t> line_starts_;
};

// The bytes of the character (UTF-8) that begins at `text[at]`; 0 where it is malformed (RFC 3629 section 4).
std::size_t utf8_length(std::string_view text, std::size_t at);

}  // namespace weir::config
