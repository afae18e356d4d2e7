// SPDX-License-Identifier: Apache-2.0
#include "weir/http/framing.h"

#include <algorithm>
#include <array>
#include <limits>

#include "weir/http/chars.h"
#include "weir/http/field.h"

namespace weir::http {
namespace {

constexpr std::string_view kChunkedName = "chunked";
constexpr std::array<std::string_view, 6> kOtherCodings = {"gzip",     "x-gzip",     "deflate",
                                                           "compress", "x-compress", "identity"};

// Takes the next element off a comma-separated list, without the white space around it.
std::string_view take_element(std::string_view& list) {
  const std::size_t comma = std::min(list.find(','), list.size());
  const std::string_view element = trim(list.substr(0, comma));
  list.remove_prefix(std::min(comma + 1, list.size()));
  return element;
}

bool is_port(std::string_view text) {
  if (text.empty() || text.size() > 5) return false;
  std::uint32_t port = 0;
  for (char c : text) {
    if (!is_in(c, kDigitChar)) return false;
    port = port * 10 + static_cast<std::uint32_t>(c - '0');
  }
  return port >= 1 && port <= 65535;
}

// The size of the host at the start of an authority, or 0 when there is none.
std::size_t host_size(std::string_view text) {
  if (text.empty() || text.front() != '[') {
    const auto stop = std::ranges::find_if_not(text, [](char c) { return is_in(c, kAuthorityChar); });
    return static_cast<std::size_t>(stop - text.begin());
  }
  const std::size_t close = text.find(']');
  if (close == text.npos || close == 1) return 0;
  const bool literal = std::ranges::all_of(text.substr(1, close - 1),
                                           [](char c) { return is_in(c, kHexChar) || c == ':' || c == '.'; });
  return literal ? close + 1 : 0;
}

}  // namespace

std::optional<std::uint64_t> read_content_length(std::string_view value) {
  if (value.empty() || value.size() > 19 || (value.size() > 1 && value.front() == '0')) return std::nullopt;
  std::uint64_t length = 0;  // 19 digits stay below 2^64
  for (char c : value) {
    if (!is_in(c, kDigitChar)) return std::nullopt;
    length = length * 10 + static_cast<std::uint64_t>(c - '0');
  }
  if (length > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
  return length;
}

TransferCoding read_transfer_encoding(std::string_view value) {
  if (same_name(value, kChunkedName)) return TransferCoding::kChunked;
  if (value.empty() || value.back() == ',') return TransferCoding::kInvalid;
  while (!value.empty()) {
    const std::string_view coding = take_element(value);
    const bool last_chunked = value.empty() && same_name(coding, kChunkedName);
    const bool known =
        std::ranges::any_of(kOtherCodings, [&](std::string_view name) { return same_name(coding, name); });
    if (!last_chunked && !known) return TransferCoding::kInvalid;
  }
  return TransferCoding::kOther;
}

std::uint32_t read_connection(std::string_view value) {
  std::uint32_t named = 0;
  while (!value.empty()) {
    const std::string_view option = take_element(value);
    if (option.empty()) continue;
    if (same_name(option, "keep-alive")) {
      named |= kNamesKeepAlive;
    } else if (same_name(option, "close")) {
      named |= kNamesClose;
    } else if (same_name(option, "upgrade")) {
      named |= kNamesUpgrade;
    } else {
      named |= kNamesOther;
    }
  }
  return named;
}

bool is_authority(std::string_view text) {
  const std::size_t size = host_size(text);
  if (size == 0) return false;
  const std::string_view rest = text.substr(size);
  return rest.empty() || (rest.front() == ':' && is_port(rest.substr(1)));
}

}  // namespace weir::http
