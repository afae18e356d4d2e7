// SPDX-License-Identifier: Apache-2.0
#include "weir/base/ip.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace weir {
namespace {

using Bytes = std::array<std::uint8_t, 16>;

constexpr Bytes kMappedPrefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};  // ::ffff:0:0/96, RFC 4291 section 2.5.5.2
constexpr Bytes kTranslatedPrefix{0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0};  // 64:ff9b::/96, RFC 6052 section 2.1
constexpr std::size_t kPrefixBytes = 12;
constexpr int kMappedBits = 96;

bool starts_with(const Bytes& bytes, const Bytes& prefix) {
  return std::equal(prefix.begin(), prefix.begin() + kPrefixBytes, bytes.begin());
}

Bytes mapped(Bytes bytes) {
  if (starts_with(bytes, kTranslatedPrefix)) std::copy_n(kMappedPrefix.begin(), kPrefixBytes, bytes.begin());
  return bytes;
}

Bytes masked(Bytes bytes, int bits) {
  for (int i = 0; i < 16; ++i) {
    const int keep = std::clamp(bits - 8 * i, 0, 8);
    bytes[static_cast<std::size_t>(i)] &= static_cast<std::uint8_t>(0xff00 >> keep);
  }
  return bytes;
}

// The bytes as written: a translated address stays one.
std::optional<Bytes> parse_bytes(std::string_view text) {
  char copy[INET6_ADDRSTRLEN];
  if (text.size() >= sizeof copy || text.find('\0') != text.npos) return std::nullopt;
  *std::copy(text.begin(), text.end(), copy) = '\0';
  Bytes bytes = kMappedPrefix;
  const bool v6 = text.find(':') != text.npos;
  if (::inet_pton(v6 ? AF_INET6 : AF_INET, copy, bytes.data() + (v6 ? 0 : kPrefixBytes)) != 1) return std::nullopt;
  return bytes;
}

std::optional<unsigned> parse_number(std::string_view text, unsigned max) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > max) return std::nullopt;
  return value;
}

bool is_port(std::string_view text) { return text.size() <= 5 && parse_number(text, 65535).has_value(); }

// RFC 4007 section 11: `fe80::1%eth0`.
std::optional<std::string_view> without_zone(std::string_view text) {
  const std::size_t percent = text.find('%');
  if (percent == text.npos) return text;
  if (percent + 1 == text.size() || text.find(':') > percent) return std::nullopt;
  return text.substr(0, percent);
}

char* write_v4(char* out, const std::uint8_t* bytes) {
  for (int i = 0; i < 4; ++i) {
    if (i > 0) *out++ = '.';
    out = std::to_chars(out, out + 3, bytes[i]).ptr;
  }
  return out;
}

struct Run {
  int first = 8;
  int length = 1;  // RFC 5952 section 4.2.2: a single zero group is not shortened
};

Run longest_zero_run(const std::array<unsigned, 8>& groups) {
  Run best;
  for (int i = 0; i < 8; ++i) {
    int end = i;
    while (end < 8 && groups[static_cast<std::size_t>(end)] == 0) ++end;
    if (end - i > best.length) best = {i, end - i};
    i = std::max(i, end - 1);
  }
  return best;
}

char* write_v6(char* out, const Bytes& bytes) {
  std::array<unsigned, 8> groups{};
  for (std::size_t i = 0; i < 8; ++i) groups[i] = static_cast<unsigned>(bytes[2 * i] << 8 | bytes[2 * i + 1]);
  const Run run = longest_zero_run(groups);
  for (int i = 0; i < 8; ++i) {
    if (i == run.first) {
      *out++ = ':';
      i += run.length - 1;
      if (i == 7) *out++ = ':';
      continue;
    }
    if (i > 0) *out++ = ':';
    out = std::to_chars(out, out + 4, groups[static_cast<std::size_t>(i)], 16).ptr;
  }
  return out;
}

}  // namespace

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  const auto bytes = parse_bytes(text);
  if (!bytes) return std::nullopt;
  IpAddress address;
  address.bytes_ = mapped(*bytes);
  return address;
}

std::optional<IpAddress> IpAddress::parse_with_port(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == text.npos || text.find(':') > close) return std::nullopt;
    const std::string_view rest = text.substr(close + 1);
    if (!rest.empty() && (rest[0] != ':' || !is_port(rest.substr(1)))) return std::nullopt;
    text = text.substr(1, close - 1);
  } else if (const std::size_t colon = text.find(':'); colon != text.npos && colon == text.rfind(':')) {
    if (!is_port(text.substr(colon + 1))) return std::nullopt;
    text = text.substr(0, colon);
  }
  const auto address = without_zone(text);
  return address ? parse(*address) : std::nullopt;
}

IpAddress IpAddress::from(const sockaddr& address) {
  IpAddress result;
  if (address.sa_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &address, sizeof v6);
    std::memcpy(result.bytes_.data(), &v6.sin6_addr, result.bytes_.size());
    result.bytes_ = mapped(result.bytes_);
  } else {
    sockaddr_in v4{};
    std::memcpy(&v4, &address, sizeof v4);
    result.bytes_ = kMappedPrefix;
    std::memcpy(result.bytes_.data() + kPrefixBytes, &v4.sin_addr, sizeof v4.sin_addr);
  }
  return result;
}

IpAddress IpAddress::from_bytes(std::string_view bytes) {
  IpAddress result;
  if (bytes.size() == result.bytes_.size()) {
    std::memcpy(result.bytes_.data(), bytes.data(), bytes.size());
    result.bytes_ = mapped(result.bytes_);
  } else {
    result.bytes_ = kMappedPrefix;
    std::memcpy(result.bytes_.data() + kPrefixBytes, bytes.data(), result.bytes_.size() - kPrefixBytes);
  }
  return result;
}

bool IpAddress::is_v4() const { return starts_with(bytes_, kMappedPrefix); }

IpAddress IpAddress::grouped(int bits) const {
  if (is_v4()) return *this;
  IpAddress result;
  result.bytes_ = masked(bytes_, bits);
  return result;
}

std::size_t IpAddress::write(char* out) const {
  char* end = is_v4() ? write_v4(out, bytes_.data() + kPrefixBytes) : write_v6(out, bytes_);
  return static_cast<std::size_t>(end - out);
}

std::string IpAddress::to_string() const {
  char text[INET6_ADDRSTRLEN];
  return {text, write(text)};
}

std::optional<IpNetwork> IpNetwork::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  auto bytes = parse_bytes(text.substr(0, slash));
  if (!bytes) return std::nullopt;
  int bits = 128;
  if (slash != text.npos) {
    const int offset = text.substr(0, slash).find(':') == text.npos ? kMappedBits : 0;
    const auto length = parse_number(text.substr(slash + 1), static_cast<unsigned>(128 - offset));
    if (!length || text.size() - slash > 4) return std::nullopt;
    bits = static_cast<int>(*length) + offset;
  }
  // A wider network than the translation prefix is a network of IPv6 only.
  if (bits >= kMappedBits) bytes = mapped(*bytes);
  IpNetwork network;
  network.base_.bytes_ = masked(*bytes, bits);
  network.bits_ = bits;
  return network;
}

bool IpNetwork::contains(const IpAddress& address) const {
  // `::/0` is every IPv6 address; the mapped form must not make it every IPv4 address too.
  if (bits_ < kMappedBits && address.is_v4()) return false;
  return masked(address.bytes(), bits_) == base_.bytes();
}

}  // namespace weir
