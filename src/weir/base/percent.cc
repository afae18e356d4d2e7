// SPDX-License-Identifier: Apache-2.0
#include "weir/base/percent.h"

#include <fmt/format.h>

namespace weir {

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool unreserved = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
                            c == '.' || c == '_' || c == '~';
    if (unreserved) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

}  // namespace weir
