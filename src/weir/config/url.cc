// SPDX-License-Identifier: Apache-2.0
#include "weir/config/url.h"

#include <algorithm>
#include <charconv>

#include "weir/config/scalars.h"

namespace weir::config {
namespace {

// Labels of letters, digits, '-' and '_', RFC 1123 section 2.1 (names with '_' exist behind gateways).
bool is_host_name(std::string_view host) {
  if (host.empty() || host.size() > 253 || host.front() == '.' || host.find("..") != host.npos) return false;
  return std::ranges::all_of(host, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  });
}

// `300.1.1.1` and `10.1` are addresses that somebody mistyped, not names: no top-level domain is numeric.
bool is_mistyped_address(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  const std::string_view last = host.substr(host.rfind('.') + 1);
  return last.find_first_not_of("0123456789") == last.npos && !IpAddress::parse(host);
}

}  // namespace

std::optional<HostPort> split_host_port(std::string_view text) {
  if (!text.starts_with('[')) {
    const std::size_t colon = text.rfind(':');
    if (colon == text.npos) return HostPort{text, std::nullopt};
    return HostPort{text.substr(0, colon), text.substr(colon + 1)};
  }
  const std::size_t close = text.find(']');
  if (close == text.npos) return std::nullopt;
  const std::string_view rest = text.substr(close + 1);
  if (!rest.empty() && rest[0] != ':') return std::nullopt;
  return HostPort{text.substr(1, close - 1), rest.empty() ? std::nullopt : std::optional(rest.substr(1)), true};
}

bool is_v6(std::string_view host) { return host.find(':') != host.npos; }

Parsed<Endpoint> parse_authority(std::string_view text, std::string_view authority, const UrlForm& form) {
  const auto parts = split_host_port(authority);
  const auto port = !parts        ? std::nullopt
                    : parts->port ? parse_digits(*parts->port, 65535)
                                  : std::optional(form.default_port);
  const bool is_host = parts && (parts->bracketed ? is_v6(parts->host) && IpAddress::parse(parts->host).has_value()
                                                  : is_host_name(parts->host) && !is_mistyped_address(parts->host));
  if (!is_host) return fault(fmt::format("'{}' has no valid host; {}", text, form.description));
  if (!port || *port == 0) return fault(fmt::format("'{}' has no valid port; ports are 1 to 65535", text));
  return Endpoint{.text = std::string(text),
                  .host = std::string(parts->host),
                  .port = static_cast<std::uint16_t>(*port),
                  .unix_path = {}};
}

Parsed<std::string> percent_decoded(std::string_view text, std::string_view where) {
  std::string decoded;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      decoded += text[at];
      continue;
    }
    const char* digits = text.data() + at + 1;
    unsigned byte = 0;
    if (at + 2 >= text.size() || std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) {
      return fault(fmt::format("'%' in {} needs two hexadecimal digits after it; '%' itself is written %25", where));
    }
    decoded += static_cast<char>(byte);
    at += 2;
  }
  return decoded;
}

Parsed<UrlParts> split_url(std::string_view rest) {
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  UrlParts parts{.user = {}, .password = {}, .server = authority, .tail = rest.substr(authority.size())};
  const std::size_t at = authority.find('@');
  if (rest.rfind('@') != at) {
    return fault("'@', '/', '?' and '#' in a user or password are written %40, %2F, %3F and %23");
  }
  if (at == authority.npos) return parts;
  const std::size_t colon = authority.find(':');
  if (colon >= at || colon + 1 == at) {
    return fault("what stands before '@' is user:password, or :password for the default user");
  }
  auto user = percent_decoded(authority.substr(0, colon));
  if (!user) return std::unexpected(user.error());
  auto password = percent_decoded(authority.substr(colon + 1, at - colon - 1));
  if (!password) return std::unexpected(password.error());
  parts.user = *std::move(user);
  parts.password = *std::move(password);
  parts.server = authority.substr(at + 1);
  return parts;
}

}  // namespace weir::config
