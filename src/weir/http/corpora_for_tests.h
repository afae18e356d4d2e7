// SPDX-License-Identifier: Apache-2.0
//
// For tests: the public test suites that lie beside the repository, and how their texts are decoded.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace weir::http {

// Where they are, for the repository's root.
inline std::filesystem::path corpora_beside(const std::filesystem::path& root) {
  return root.parent_path() / "shared" / "corpora";
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The value of `digits` in base 8 or 16 as one byte.
inline char to_byte(const std::string& digits, int base) {
  return static_cast<char>(std::stoi(digits, nullptr, base));
}

// Turns \r \n \t \f \xHH \0 and octal \ooo into bytes; any other backslash is itself.
inline std::string unescape(std::string_view text) {
  constexpr std::string_view kOctal = "01234567";
  std::string bytes;
  while (!text.empty()) {
    const char next = text.front() == '\\' && text.size() > 1 ? text[1] : '\0';
    const std::size_t letter = std::string_view("rntf").find(next);
    if (next != '\0' && letter != std::string_view::npos) {
      bytes += "\r\n\t\f"[letter];
      text.remove_prefix(2);
    } else if (next == 'x' && text.size() >= 4) {
      bytes += to_byte(std::string(text.substr(2, 2)), 16);
      text.remove_prefix(4);
    } else if (next != '\0' && kOctal.find(next) != std::string_view::npos) {
      std::size_t size = 1;
      while (size < 3 && size + 1 < text.size() && kOctal.find(text[size + 1]) != std::string_view::npos) ++size;
      bytes += to_byte(std::string(text.substr(1, size)), 8);
      text.remove_prefix(size + 1);
    } else {
      bytes += text.front();
      text.remove_prefix(1);
    }
  }
  return bytes;
}

}  // namespace weir::http
