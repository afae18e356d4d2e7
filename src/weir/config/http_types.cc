// SPDX-License-Identifier: Apache-2.0
#include "weir/config/http_types.h"

#include <algorithm>
#include <array>

#include "weir/config/near_word.h"
#include "weir/config/scalars.h"

namespace weir::config {
namespace {

bool is_alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

// RFC 9110 section 5.6.2.
bool is_token(std::string_view text) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !text.empty() &&
         std::ranges::all_of(text, [&](char c) { return is_alphanumeric(c) || kOthers.contains(c); });
}

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
int hex_value(char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; }

// RFC 3986 section 2.3.
bool is_unreserved(char c) { return is_alphanumeric(c) || std::string_view("-._~").contains(c); }

// Paths are matched in normal form (RFC 3986 section 6.2.2), so others could never match. `character` is the fault of
// one byte; "" for none.
std::string percent_fault(std::string_view path, std::size_t at) {
  if (at + 2 >= path.size() || !is_hex(path[at + 1]) || !is_hex(path[at + 2])) return "'%' without two hex digits";
  const auto decoded = static_cast<char>(hex_value(path[at + 1]) * 16 + hex_value(path[at + 2]));
  if (is_unreserved(decoded)) return fmt::format("'{}' is written as '{}' in a path", path.substr(at, 3), decoded);
  return {};
}

std::string path_fault(std::string_view path) {
  if (!path.starts_with('/')) return "a path begins with '/'";
  for (std::size_t at = 0; at < path.size(); ++at) {
    const char c = path[at];
    if (c == '?' || c == '#') return fmt::format("a path ends before '{}'", c);
    if (c <= 0x20 || c >= 0x7f || std::string_view("\"<>\\^`|").contains(c)) {
      return "a path has no spaces and no characters that must be percent-encoded";
    }
    if (c != '%') continue;
    if (std::string fault = percent_fault(path, at); !fault.empty()) return fault;
  }
  if (path.find("//") != path.npos) return "'//' is '/' when paths are matched";
  return {};
}

// The segments after the first '/'.
std::vector<std::string_view> segments_of(std::string_view path) {
  std::vector<std::string_view> segments;
  for (std::size_t at = 1; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    segments.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  return segments;
}

bool is_dots(std::string_view segment) { return segment == "." || segment == ".."; }

std::string segment_fault(std::string_view segment, bool last) {
  if (is_dots(segment)) return "'.' and '..' are resolved before paths are matched";
  if (segment == "*") return last ? "" : "'*' is the last segment of a pattern";
  const bool braces = segment.find_first_of("{}") != segment.npos;
  const std::string_view inner = segment.size() < 2 ? "" : segment.substr(1, segment.size() - 2);
  const bool whole = segment.starts_with('{') && segment.ends_with('}') && !inner.empty() &&
                     inner.find_first_of("{}*") == inner.npos;
  if (braces && !whole) return fmt::format("'{}' is not a whole segment such as {{id}}", segment);
  if (segment.contains('*')) return fmt::format("'*' stands alone, but '{}' has more in its segment", segment);
  return {};
}

std::string pattern_fault(std::string_view path) {
  if (std::string fault = path_fault(path); !fault.empty()) return fault;
  const auto segments = segments_of(path);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    std::string fault = segment_fault(segments[i], i + 1 == segments.size());
    if (!fault.empty()) return fault;
  }
  return {};
}

std::string method_suggestion(std::string_view method) {
  const std::vector<std::string> known{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
  return did_you_mean(method, known);
}

bool is_lower_case_method(std::string_view method) {
  return std::ranges::any_of(method, [](char c) { return c >= 'a' && c <= 'z'; });
}

// Fields that frame or route a message, or speak of one connection: the gateway acts on them itself.
bool is_reserved_header(std::string_view name) {
  constexpr std::array<std::string_view, 9> kReserved{"host",       "content-length", "transfer-encoding",
                                                      "connection", "keep-alive",     "proxy-connection",
                                                      "te",         "trailer",        "upgrade"};
  return std::ranges::find(kReserved, lower_case(name)) != kReserved.end();
}

Parsed<std::string> parse_identity_header(std::string_view text) {
  if (is_reserved_header(text)) {
    return fault(fmt::format("'{}' belongs to the protocol and cannot say who the caller is", text));
  }
  return parse_header_name(text);
}

constexpr const char* kAnyHeaderPattern = "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$";
constexpr const char* kHeaderPattern = "^[!#$%&'*+.^`|~0-9A-Za-z-]+$";

}  // namespace

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return result;
}

Parsed<std::string> parse_host(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']') && IpAddress::parse(text.substr(1, text.size() - 2))) {
    return lower_case(text);
  }
  if (text.contains('*'))
    return fault(fmt::format("'{}': hosts have no wildcards", text), "without `hosts`, every host matches");
  if (text.contains(':')) return fault(fmt::format("'{}': a host has no port here", text));
  std::string_view name = text;
  if (name.ends_with('.')) name.remove_suffix(1);
  const bool valid =
      !name.empty() && name.size() <= 253 && !name.starts_with('.') && !name.contains("..") &&
      std::ranges::all_of(name, [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
  if (!valid) return fault(fmt::format("'{}' is not a host name", text));
  return lower_case(name);
}

Type<std::string> host() { return text("a host name", "^([0-9A-Za-z._-]+|\\[[0-9A-Fa-f:.]+\\])$", parse_host); }

Parsed<std::string> parse_path_prefix(std::string_view text) {
  if (std::string why = path_fault(text); !why.empty())
    return fault(fmt::format("'{}' could never match: {}", text, why));
  if (std::ranges::any_of(segments_of(text), is_dots)) {
    return fault(fmt::format("'{}' could never match: '.' and '..' are resolved before", text));
  }
  if (text.find_first_of("{}*") != text.npos) {
    return fault(fmt::format("'{}' could never match: the paths of a service are prefixes, not patterns", text));
  }
  if (text.size() > 1 && text.ends_with('/')) text.remove_suffix(1);
  return std::string(text);
}

Type<std::string> path_prefix() { return text("a path such as /products", "^/[^?#\\s{}*]*$", parse_path_prefix); }

Parsed<EndpointPattern> parse_endpoint_pattern(std::string_view text) {
  const std::size_t space = text.find(' ');
  const std::string_view method = text.substr(0, space);
  if (space == text.npos) {
    return fault(fmt::format("'{}' is not METHOD /path, for example POST /products or GET /products/{{id}}", text),
                 text.starts_with('/') ? fmt::format("did you mean '* {}'?", text) : "");
  }
  if (!is_token(method)) return fault(fmt::format("'{}' is not a method", method));
  if (is_lower_case_method(method)) {
    return fault(fmt::format("'{}' could never match: methods are upper case", method), method_suggestion(method));
  }
  const std::string_view path = text.substr(space + 1);
  if (std::string why = pattern_fault(path); !why.empty()) {
    return fault(fmt::format("'{}' could never match: {}", path, why));
  }
  return EndpointPattern{std::string(method), std::string(path), std::string(text)};
}

Type<EndpointPattern> endpoint_pattern() {
  Json schema{{"type", "string"}, {"pattern", "^[!#$%&'*+.^_`|~0-9A-Z-]+ /[^?#\\s]*$"}};
  return scalar<EndpointPattern>("a pattern such as POST /products", std::move(schema), parse_endpoint_pattern);
}

Parsed<std::string> parse_header_name(std::string_view text) {
  if (!is_token(text)) return fault(fmt::format("'{}' is not the name of a header field", text));
  if (text.contains('_')) {
    std::string with_dashes(text);
    std::ranges::replace(with_dashes, '_', '-');
    return fault(
        fmt::format("'{}' never arrives: fields with '_' in their names are refused (http: underscores)", text),
        fmt::format("did you mean '{}'?", with_dashes));
  }
  return std::string(text);
}

Type<std::string> header_name() { return text("the name of a header field", kHeaderPattern, parse_header_name); }

Type<std::string> response_header_name() {
  const auto parse = [](std::string_view text) -> Parsed<std::string> {
    if (!is_token(text)) return fault(fmt::format("'{}' is not the name of a header field", text));
    return std::string(text);
  };
  return text("the name of a header field", kAnyHeaderPattern, parse);
}

Type<std::string> identity_header_name() {
  return text("the name of a header field", kHeaderPattern, parse_identity_header);
}

Parsed<std::string> parse_attribute(std::string_view text) {
  const bool valid = !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
    return is_alphanumeric(c) || c == '_' || c == '-' || c == '.';
  });
  if (!valid)
    return fault(fmt::format("'{}' is not the name of an attribute (letters, digits, '-', '_', '.')", text));
  return std::string(text);
}

Type<std::string> attribute() { return text("the name of an attribute", "^[0-9A-Za-z._-]{1,64}$", parse_attribute); }

Parsed<std::string> parse_claim(std::string_view text) {
  constexpr std::size_t kLongest = 256;
  const bool visible = std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
  if (!text.empty() && text.size() <= kLongest && visible) return std::string(text);
  return fault(fmt::format("the name of a claim is 1 to {} visible ASCII characters", kLongest));
}

Type<std::string> claim() { return text("the name of a claim such as sub", "^[\\x21-\\x7E]{1,256}$", parse_claim); }

Parsed<PerAttribute> parse_per(std::string_view text) {
  using From = PerAttribute::Source;
  const std::size_t colon = text.find(':');
  if (colon == text.npos) {
    return then(parse_attribute(text), [](const std::string& name) { return PerAttribute{From::kAttribute, name}; });
  }
  const std::string_view kind = text.substr(0, colon);
  const std::string_view name = text.substr(colon + 1);
  const std::vector<std::string> kinds{"header", "query", "cookie", "claim"};
  const auto found = std::ranges::find(kinds, kind);
  if (found == kinds.end()) {
    return fault(fmt::format("'{}' is not a source; attributes come from header:, query:, cookie: or claim:", kind),
                 did_you_mean(kind, kinds));
  }
  const auto source = static_cast<From>(found - kinds.begin() + 1);
  if (source == From::kClaim) {
    return then(parse_claim(name), [](const std::string& claim) { return PerAttribute{From::kClaim, claim}; });
  }
  const bool valid =
      source == From::kQuery
          ? !name.empty() &&
                std::ranges::all_of(name, [](char c) { return c > 0x20 && c < 0x7f && c != '&' && c != '='; })
          : is_token(name);
  if (!valid) return fault(fmt::format("'{}' is not a valid name after '{}:'", name, kind));
  if (source == From::kHeader) {
    return then(parse_header_name(name),
                [](const std::string& header) { return PerAttribute{From::kHeader, header}; });
  }
  return PerAttribute{source, std::string(name)};
}

Type<PerAttribute> per_attribute() {
  Json schema{{"type", "string"}, {"pattern", "^([0-9A-Za-z._-]{1,64}|(header|query|cookie|claim):[^\\s]+)$"}};
  return scalar<PerAttribute>("an attribute such as partner", std::move(schema), parse_per);
}

}  // namespace weir::config
