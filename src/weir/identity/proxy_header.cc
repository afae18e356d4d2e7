// SPDX-License-Identifier: Apache-2.0
#include "weir/identity/proxy_header.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace weir::identity {
namespace {

using State = ProxyHeader::State;

constexpr std::string_view kTextMark = "PROXY ";
constexpr std::size_t kLongestText = 107;
constexpr std::string_view kBinaryMark("\r\n\r\n\0\r\nQUIT\n", 12);
constexpr std::size_t kBinaryHead = 16;
constexpr std::size_t kLongestBinary = 4096;

constexpr ProxyHeader kWrong{.state = State::kWrong, .size = 0, .source = {}};

// Takes the word before the next space off the front, and the space; what follows the last one must be empty.
std::string_view take_word(std::string_view& text) {
  const std::size_t space = text.find(' ');
  const std::string_view word = text.substr(0, space);
  text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
  return word;
}

bool is_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  const bool is_number = error == std::errc{} && end == text.data() + text.size();
  return is_number && (text.size() == 1 || text[0] != '0');
}

// An IPv4 address mapped into IPv6 is TCP6 on the wire.
std::optional<IpAddress> address_of(std::string_view text, bool v6) {
  const bool looks_v6 = text.find(':') != std::string_view::npos;
  return looks_v6 == v6 ? IpAddress::parse(text) : std::nullopt;
}

ProxyHeader parse_text(std::string_view bytes) {
  const std::size_t end = bytes.substr(0, kLongestText).find("\r\n");
  if (end == std::string_view::npos) return bytes.size() >= kLongestText ? kWrong : ProxyHeader{};
  ProxyHeader header{.state = State::kComplete, .size = end + 2, .source = {}};
  std::string_view line = bytes.substr(kTextMark.size(), end - kTextMark.size());
  const std::string_view family = take_word(line);
  if (family == "UNKNOWN") return header;
  if (family != "TCP4" && family != "TCP6") return kWrong;
  header.source = address_of(take_word(line), family == "TCP6");
  const auto destination = address_of(take_word(line), family == "TCP6");
  const bool has_ports = is_port(take_word(line)) && line.find(' ') == std::string_view::npos && is_port(line);
  return header.source && destination && has_ports ? header : kWrong;
}

std::uint8_t byte_at(std::string_view bytes, std::size_t at) { return static_cast<std::uint8_t>(bytes[at]); }

// What the addresses of a family take at least.
constexpr std::array<std::size_t, 4> kAddressBytes{0, 12, 36, 216};

ProxyHeader parse_binary(std::string_view bytes) {
  if (bytes.size() < kBinaryHead) return {};
  const std::uint8_t version = byte_at(bytes, 12) >> 4;
  const std::uint8_t command = byte_at(bytes, 12) & 15;
  const std::uint8_t family = byte_at(bytes, 13) >> 4;
  const std::uint8_t transport = byte_at(bytes, 13) & 15;
  const std::size_t length = std::size_t{byte_at(bytes, 14)} << 8 | byte_at(bytes, 15);
  const bool sound = version == 2 && command <= 1 && family < kAddressBytes.size() && transport <= 2;
  if (!sound || kBinaryHead + length > kLongestBinary) return kWrong;
  ProxyHeader header{.state = State::kComplete, .size = kBinaryHead + length, .source = {}};
  const bool is_proxied = command == 1 && family != 0 && transport != 0;
  if (is_proxied && length < kAddressBytes[family]) return kWrong;
  if (bytes.size() < header.size) return {};
  if (is_proxied && family == 1) header.source = IpAddress::from_bytes(bytes.substr(kBinaryHead, 4));
  if (is_proxied && family == 2) header.source = IpAddress::from_bytes(bytes.substr(kBinaryHead, 16));
  return header;
}

bool begins_like(std::string_view bytes, std::string_view mark) {
  const std::size_t known = std::min(bytes.size(), mark.size());
  return bytes.substr(0, known) == mark.substr(0, known);
}

}  // namespace

ProxyHeader parse_proxy_header(std::string_view bytes) {
  if (begins_like(bytes, kTextMark)) return bytes.size() < kTextMark.size() ? ProxyHeader{} : parse_text(bytes);
  if (begins_like(bytes, kBinaryMark)) return bytes.size() < kBinaryMark.size() ? ProxyHeader{} : parse_binary(bytes);
  return kWrong;
}

}  // namespace weir::identity
