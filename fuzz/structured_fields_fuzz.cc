// SPDX-License-Identifier: Apache-2.0
//
// Structured fields: what was read can be written, and reads again as the same value.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "weir/http/structured_fields.h"

namespace {

namespace sf = weir::http::sf;

void require(bool holds) {
  if (!holds) std::abort();
}

template <class Value>
void check(std::string_view text, std::optional<Value> (*parse)(std::string_view)) {
  const auto value = parse(text);
  if (!value) return;
  const auto written = sf::serialize(*value);
  require(written.has_value());
  const auto again = parse(*written);
  require(again.has_value() && *again == *value && sf::serialize(*again) == written);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(text, sf::parse_list);
  check(text, sf::parse_dictionary);
  check(text, sf::parse_item);
  return 0;
}
